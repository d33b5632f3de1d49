import ZonaiHTTP
import ZonaiJSON

/// The rules for a push's headers and payload that need no knowledge of the device (Apple's "Sending notification
/// requests to APNs").
struct APNsPush {
  let type: PushType?
  let topic: String

  /// The push types with what they add to the bundle id.
  enum PushType: String {
    case alert
    case background
    case complication
    case controls
    case fileprovider
    case liveactivity
    case location
    case mdm
    case pushtotalk
    case voip
    case widgets

    var topicSuffix: String? {
      switch self {
      case .alert, .background: ""
      case .complication: ".complication"
      case .controls: ".push-type.controls"
      case .fileprovider: ".pushkit.fileprovider"
      case .liveactivity: ".push-type.liveactivity"
      case .location: ".location-query"
      // The topic comes from a certificate, which nobody has here.
      case .mdm: nil
      case .pushtotalk: ".voip-ptt"
      case .voip: ".voip"
      case .widgets: ".push-type.widgets"
      }
    }

    static let suffixes = [
      ".complication", ".push-type.controls", ".pushkit.fileprovider", ".push-type.liveactivity", ".location-query",
      ".voip-ptt", ".voip", ".push-type.widgets",
    ]
  }

  init(_ request: ServerRequest, bundleID: String) throws(APNsRefusal) {
    var seen: [String: String] = [:]
    for header in request.headers where header.name.hasPrefix("apns-") || header.name == "authorization" {
      guard seen.updateValue(header.value, forKey: header.name) == nil else { throw APNsRefusal(.duplicateHeaders) }
    }
    if let id = seen["apns-id"], !Self.isUUID(id) { throw APNsRefusal(.badMessageId) }
    if let expiration = seen["apns-expiration"], !Self.isWholeNumber(expiration) {
      throw APNsRefusal(.badExpirationDate)
    }
    type = try Self.type(seen["apns-push-type"])
    if let priority = seen["apns-priority"] {
      let isGood = ["1", "5", "10"].contains(priority)
      // "Specifying this priority for a notification with a background type is an error."
      let fits = type == .background ? priority != "10" : type == .liveactivity ? priority != "1" : true
      guard isGood, fits else { throw APNsRefusal(.badPriority) }
    }
    if let collapse = seen["apns-collapse-id"], collapse.utf8.count > 64 { throw APNsRefusal(.badCollapseId) }
    topic = try Self.topic(seen["apns-topic"], type: type, bundleID: bundleID)
    try Self.check(request, limit: type == .voip ? 5120 : 4096)
  }

  private static func type(_ text: String?) throws(APNsRefusal) -> PushType? {
    guard let text else { return nil }
    guard let type = PushType(rawValue: text) else { throw APNsRefusal(.invalidPushType) }
    return type
  }

  private static func topic(_ topic: String?, type: PushType?, bundleID: String) throws(APNsRefusal) -> String {
    guard let topic, !topic.isEmpty else { throw APNsRefusal(.missingTopic) }
    guard topic.utf8.allSatisfy(isBundleByte) else { throw APNsRefusal(.badTopic) }
    if let suffix = type?.topicSuffix, topic == bundleID + suffix { return topic }
    // Without a push type the topic alone says what it is.
    if type == nil, topic == bundleID || PushType.suffixes.contains(where: { topic == bundleID + $0 }) { return topic }
    let isOurs = topic == bundleID || PushType.suffixes.contains { topic == bundleID + $0 }
    throw APNsRefusal(isOurs ? .invalidPushType : .topicDisallowed)
  }

  private static func check(_ request: ServerRequest, limit: Int) throws(APNsRefusal) {
    guard !request.isBodyTooLarge, request.body.count <= limit else { throw APNsRefusal(.payloadTooLarge) }
    // Apple's table has no reason for what is not JSON; this is the one that comes nearest.
    guard let payload = try? JSON(parsing: request.body), payload.object != nil else {
      throw APNsRefusal(.payloadEmpty)
    }
  }

  private static func isBundleByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private static func isWholeNumber(_ text: String) -> Bool {
    (1...15).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
  }

  static func isUUID(_ text: String) -> Bool {
    let pieces = text.split(separator: "-", omittingEmptySubsequences: false)
    return pieces.map(\.utf8.count) == [8, 4, 4, 4, 12] && pieces.allSatisfy { $0.allSatisfy(\.isHexDigit) }
      && text.utf8.count == 36
  }
}
