/// What a device is to the services. A well-formed token that nobody registered counts as active.
enum DeviceState: String, CaseIterable {
  case active
  /// The app is gone: FCM says UNREGISTERED, APNs Unregistered with the time since when.
  case uninstalled
  /// The token has run out: APNs says ExpiredToken. FCM has no word for it.
  case expired
  case throttled
  /// The token belongs to another Firebase project.
  case otherProject
  /// The token belongs to another app of the team.
  case otherTopic
  /// The token belongs to APNs' other environment.
  case otherEnvironment
  /// No environment of APNs knows the token: BadDeviceToken in both.
  case unknown

  func isKnown(to lane: Lane) -> Bool {
    switch self {
    case .active, .uninstalled, .throttled: lane == .fcm || lane == .apns
    case .otherProject: lane == .fcm
    case .expired, .otherTopic, .otherEnvironment, .unknown: lane == .apns
    }
  }
}

struct Device {
  var state: DeviceState
  /// Since when, in milliseconds; shown by APNs' 410.
  var since: Int64
  /// What a throttled device's answer puts into retry-after.
  var retryAfterSeconds: Int64?
}

/// The devices that somebody registered, by lane and token.
struct DeviceRegistry {
  private var fcm: [String: Device] = [:]
  private var apns: [String: Device] = [:]

  var count: Int { fcm.count + apns.count }

  subscript(lane: Lane, token: String) -> Device? {
    get { lane == .apns ? apns[token.lowercased()] : fcm[token] }
    set {
      if lane == .apns { apns[token.lowercased()] = newValue } else { fcm[token] = newValue }
    }
  }

  mutating func removeAll() {
    fcm = [:]
    apns = [:]
  }

  /// Which lane a token belongs to by its looks: APNs' are hexadecimal.
  static func lane(of token: String) -> Lane { isAPNsToken(token) ? .apns : .fcm }

  /// 32 bytes or more, in hexadecimal. Apple says not to assume a length; shorter ones have never been handed out.
  static func isAPNsToken(_ token: String) -> Bool {
    (64...400).contains(token.utf8.count) && token.utf8.count % 2 == 0 && isHex(token)
  }

  /// Letters, digits, `:`, `_` and `-`, up to 4096 of them, and not what is obviously an APNs token.
  static func isFCMToken(_ token: String) -> Bool {
    guard (1...4096).contains(token.utf8.count) else { return false }
    let isPlain = token.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
    return isPlain && !(token.utf8.count >= 64 && isHex(token))
  }

  private static func isHex(_ token: String) -> Bool {
    token.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"):
        true
      default: false
      }
    }
  }
}
