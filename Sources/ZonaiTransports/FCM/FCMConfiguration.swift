/// How to reach FCM: the project, its service account, and how the connections behave.
public struct FCMConfiguration: Sendable, Hashable {
  /// The Firebase project. nil, the default, takes the service account's own.
  public var projectId: String?
  /// The service account that may send, as Firebase's console gives it out.
  public var serviceAccount: KeySource
  /// Another server in FCM's place; nil, the default, is Google's. For tests: never take it from a file that others may
  /// write, since access tokens are sent to it.
  public var endpoint: Endpoint?
  /// Another server in the place of Google's token endpoint; nil, the default, is the one that the
  /// service account names, which must be Google's. With it, a `token_uri` on this machine, such as
  /// a simulator's, is accepted as the audience.
  public var oauthEndpoint: Endpoint?
  /// A PEM file of authorities to trust besides the system's; nil, the default, trusts only those.
  public var caFile: String?
  /// How many connections are opened at most. FCM allows a hundred requests at once on each, so
  /// speed is that times this, divided by the time of an answer; they are opened as requests wait
  /// for room. The default is 32.
  public var connectionsPerLane = 32
  /// How long an answer may take, in milliseconds, from the moment at which the request was written. The default is
  /// 30 s: Google asks for at least ten.
  public var requestTimeout: Int64 = 30_000

  public init(projectId: String? = nil, serviceAccount: KeySource) {
    self.projectId = projectId
    self.serviceAccount = serviceAccount
  }
}
