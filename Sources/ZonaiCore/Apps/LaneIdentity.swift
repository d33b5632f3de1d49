/// Where a lane sends, and on whose account: what must stay the same for all jobs of an app.
///
/// It holds no key material, and replacing a key does not change it: that is what the fingerprint
/// is for.
public struct LaneIdentity: Sendable, Hashable {
  public let transport: TransportName
  /// The service's environment, such as `production`; nil where the service has only one.
  public let environment: String?
  /// Whose devices are reached: a Firebase project, an Apple team, an account.
  public let account: String?
  /// The application's bundle id; nil where the account alone says which application it is.
  public let bundleID: String?
  /// The service's host name, or `testHost`.
  public let host: String

  /// Stands for every host that takes a service's place: a test's server may have another port on
  /// each run.
  public static let testHost = "test"

  public init(
    _ transport: TransportName, environment: String? = nil, account: String? = nil, bundleID: String? = nil,
    host: String
  ) {
    self.transport = transport
    self.environment = environment
    self.account = account
    self.bundleID = bundleID
    self.host = host
  }
}

extension LaneIdentity: CustomStringConvertible {
  /// "APNs production, team ABCDE12345, bundle id com.example.app at api.push.apple.com", for
  /// sentences.
  public var description: String {
    let parts = [environment, account.map { "\(accountWord) \($0)" }, bundleID.map { "bundle id \($0)" }]
    let place = host == LaneIdentity.testHost ? "a test server" : host
    return (["\(transport)", parts.compactMap { $0 }.joined(separator: ", "), "at \(place)"])
      .filter { !$0.isEmpty }.joined(separator: " ")
  }

  private var accountWord: String {
    switch transport {
    case .fcm: "project"
    case .apns: "team"
    default: "account"
    }
  }
}

extension [LaneIdentity] {
  /// In the order in which they are stored and told.
  public var inOrder: [LaneIdentity] { sorted { $0.transport.rawValue < $1.transport.rawValue } }
}
