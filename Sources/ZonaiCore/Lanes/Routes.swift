/// Which transport serves which platform; fixed when a job is enqueued and recorded with it, so that a worker with a
/// different configuration cannot send an iOS token to FCM.
public struct Routes: Sendable, Hashable, Codable {
  /// Where rows of an Apple platform go; nil when nothing configured serves them.
  public var apple: TransportName?
  /// Where rows of any other known platform go.
  public var android: TransportName?
  /// Where rows without a platform, or with an unheard-of one, go.
  public var unknown: TransportName?
  /// Where rows of a platform that an outside transport claims go.
  public var others: [String: TransportName] = [:]

  public init(apple: TransportName?, android: TransportName?, unknown: TransportName?) {
    self.apple = apple
    self.android = android
    self.unknown = unknown
  }

  /// The routes that a set of configured transports gives.
  ///
  /// Apple's platforms go to APNs when it is there, else through FCM. Everything else goes to FCM and only there, except
  /// that an audience without a platform column, where APNs alone is configured, goes to APNs.
  public init(configured: Set<TransportName>, audienceHasPlatform: Bool) {
    let fcm = configured.contains(.fcm) ? TransportName.fcm : nil
    let apns = configured.contains(.apns) ? TransportName.apns : nil
    apple = apns ?? fcm
    android = fcm
    unknown = fcm ?? (audienceHasPlatform ? nil : apns)
    if fcm == nil, apns == nil, let only = configured.first, configured.count == 1 {
      apple = only
      android = only
      unknown = only
    }
  }

  /// The transport for a row's platform; nil when there is none.
  public func transport(for platform: Platform) -> TransportName? {
    if let claimed = others[platform.name] { return claimed }
    if platform.isApple { return apple }
    return platform.name == "android" ? android : unknown
  }

  /// Every transport that a worker needs to serve a job with these routes.
  public var transports: Set<TransportName> {
    Set([apple, android, unknown].compactMap { $0 }).union(others.values)
  }
}
