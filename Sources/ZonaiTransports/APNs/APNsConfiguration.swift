import ZonaiCore

/// How to reach APNs: the key, whose it is, the application, and which of Apple's two environments.
public struct APNsConfiguration: Sendable {
  /// The private key: the `.p8` file as Apple gave it, or its text.
  public var key: KeySource
  /// The key's id, ten characters; it stands in the file's name and on Apple's page of keys.
  public var keyId: String
  /// The team's id, ten characters.
  public var teamId: String
  /// The application's bundle id. The topic is made of it and the push type.
  public var bundleId: String
  /// Whether the tokens come from development builds. The default is production; a token of the other environment is
  /// answered as a bad one.
  public var useSandbox = false
  /// Another server in APNs' place; nil, the default, is Apple's. For tests: provider tokens are sent to it.
  public var endpoint: Endpoint?
  /// Apple's other environment, where tokens that this one calls bad are asked about. nil, the
  /// default, is Apple's own; with another `endpoint` there is none, and such tokens are kept.
  public var otherEndpoint: Endpoint?
  /// Whether all tokens of this lane are known to be of its environment. The default is false: a
  /// `BadDeviceToken` is then asked about in the other environment before it is believed. Only for
  /// applications that keep the environments apart.
  public var allTokensAreOfThisEnvironment = false
  /// A PEM file of authorities to trust besides the system's; nil, the default, trusts only those.
  public var caFile: String?
  /// How many connections are opened at most, as requests wait for room. Apple allows several and
  /// advises against many. The default is 4.
  public var connectionsPerLane = 4
  /// How long an answer may take, in milliseconds, from the moment at which the request was written. The default is 30 s.
  public var requestTimeout: Int64 = 30_000
  /// Where provider tokens are shared, so that all workers of a team are one to Apple, which counts how often a team renews
  /// its token: the store, or a `SecretFile`.
  ///
  /// nil, the default, stores no token anywhere: each process makes its own, once in half an hour, in such a way that all of
  /// them make the same one. That needs clocks that agree, and a first start within the last 20 minutes of a half hour may be
  /// told `TooManyProviderTokenUpdates` until they are over.
  public var secrets: (any SecretStore)?

  public init(key: KeySource, keyId: String, teamId: String, bundleId: String, useSandbox: Bool = false) {
    self.key = key
    self.keyId = keyId
    self.teamId = teamId
    self.bundleId = bundleId
    self.useSandbox = useSandbox
  }

  static let production = Endpoint(host: "api.push.apple.com")
  static let sandbox = Endpoint(host: "api.sandbox.push.apple.com")

  var effectiveEndpoint: Endpoint {
    endpoint ?? (useSandbox ? APNsConfiguration.sandbox : APNsConfiguration.production)
  }

  /// nil when the other environment is not known.
  var effectiveOtherEndpoint: Endpoint? {
    if let otherEndpoint { return otherEndpoint }
    guard endpoint == nil else { return nil }
    return useSandbox ? APNsConfiguration.production : APNsConfiguration.sandbox
  }
}
