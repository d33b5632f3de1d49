/// What a simulator is told when it is made. Each default suits tests and demonstrations.
public struct SimulatorOptions: Sendable {
  /// The ports on 127.0.0.1. 0, the default, takes a free one.
  public var fcmPort: UInt16 = 0
  public var oauthPort: UInt16 = 0
  public var apnsPort: UInt16 = 0
  public var apnsSandboxPort: UInt16 = 0
  public var controlPort: UInt16 = 0
  /// The Firebase project that exists; sends to any other are refused.
  public var projectID = "zonai-simulated"
  /// The Apple team that exists.
  public var teamID = "SIMULATED1"
  /// The app that exists; topics that do not begin with it are refused.
  public var bundleID = "dev.zonai.simulated"
  /// How many streams APNs grants a connection after its first valid token. Apple was seen to grant 500 to 1,500.
  public var apnsStreamLimit: UInt32 = 1000
  /// How many streams FCM grants a connection. Google was seen to grant 100.
  public var fcmStreamLimit: UInt32 = 100
  /// How many accepted messages the inbox keeps; older ones make way and are only counted. Ten thousand take about 15 MB.
  public var inboxCapacity = 10_000

  public init() {}
}

/// The base URLs of a simulator, as they stand in `simulator.json`.
public struct SimulatorEndpoints: Sendable, Hashable {
  public var fcm: String
  public var oauth: String
  /// Apple's production environment.
  public var apns: String
  /// Apple's development environment.
  public var apnsSandbox: String
  /// Plain HTTP.
  public var control: String

  /// The port in `control`.
  var controlPort: UInt16 { control.split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }
}
