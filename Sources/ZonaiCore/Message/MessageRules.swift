/// What can be known of a message before any service is asked. The JSON overrides are checked by the transports, since the
/// core parses no JSON.
public enum MessageRules {
  /// Data keys that the services keep for themselves. `aps` is APNs' own dictionary, in which the application's keys cannot
  /// stand; the others are FCM's. `notification` and `collapse_key` are accepted by FCM.
  /// https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
  public static let reservedDataKeys: Set<String> = ["from", "message_type", "aps"]
  public static let reservedDataKeyPrefixes = ["google", "gcm"]
  /// APNs' limit for `apns-collapse-id`, in bytes.
  public static let collapseKeyLimit = 64
  /// FCM's limit, 28 days, in seconds.
  public static let timeToLiveLimit = 2_419_200

  /// Throws the first fault that is found.
  public static func validate(_ message: PushMessage) throws(MessageFault) {
    try validateContent(message)
    try validateBackground(message)
    try validateHeaders(message)
    try validateData(message)
  }

  private static func validateContent(_ message: PushMessage) throws(MessageFault) {
    let shows = [message.title, message.body, message.image, message.sound].contains { !($0 ?? "").isEmpty }
    let saysMore =
      message.badge != nil || !message.data.isEmpty || message.isBackground || message.fcmOverride != nil
      || message.apnsOverride != nil
    // Kinds of push that show nothing by themselves need nothing.
    let isSilentKind = message.pushType.map { $0 != .alert && $0 != .background } ?? false
    if !shows, !saysMore, !isSilentKind {
      throw MessageFault(
        field: "message",
        "The message is empty: give it a title, a body or data, or set isBackground to wake the application silently.")
    }
    if let badge = message.badge, badge < 0 {
      throw MessageFault(field: "badge", "badge is \(badge): give 0 to remove the number, or a number above it.")
    }
    for (field, text) in [("sound", message.sound), ("thread", message.thread), ("category", message.category)]
    where text?.isEmpty ?? false {
      throw MessageFault(field: field, "\(field) is empty: leave it out.")
    }
    if let image = message.image, !isWebAddress(image) {
      throw MessageFault(
        field: "image", "image is no web address: give one that begins with https:// and holds no spaces.")
    }
  }

  private static func validateBackground(_ message: PushMessage) throws(MessageFault) {
    guard message.isBackground else {
      if message.pushType == .background {
        throw MessageFault(
          field: "pushType", "pushType is background, but the message is none: set isBackground instead.")
      }
      return
    }
    let visible: [(String, Bool)] = [
      ("title", message.title != nil), ("body", message.body != nil), ("sound", message.sound != nil),
      ("badge", message.badge != nil), ("image", message.image != nil),
    ]
    for (field, isSet) in visible where isSet {
      throw MessageFault(
        field: field, "A background push shows nothing: leave \(field) out, or do not set isBackground.")
    }
    if message.priority == .high {
      throw MessageFault(
        field: "priority",
        "A background push of high priority is an error to APNs: leave priority out, or set it to normal.")
    }
    if let type = message.pushType, type != .background {
      throw MessageFault(
        field: "pushType",
        "A background push has the push type background, not \(shown(type.rawValue)): leave pushType out.")
    }
  }

  private static func validateHeaders(_ message: PushMessage) throws(MessageFault) {
    if let type = message.pushType, type.topicSuffix == nil {
      throw MessageFault(
        field: "pushType", "pushType \(shown(type.rawValue)) is not known: use one of \(knownPushTypes).")
    }
    if let seconds = message.timeToLive, !(0...timeToLiveLimit).contains(seconds) {
      throw MessageFault(
        field: "timeToLive",
        "timeToLive is \(seconds) seconds: give 0 to \(timeToLiveLimit), which is 28 days and FCM's limit.")
    }
    guard let key = message.collapseKey else { return }
    let bytes = Array(key.utf8)
    if bytes.isEmpty {
      throw MessageFault(field: "collapseKey", "collapseKey is empty: leave it out.")
    }
    if bytes.count > collapseKeyLimit {
      throw MessageFault(
        field: "collapseKey", "collapseKey has \(bytes.count) bytes: APNs takes at most \(collapseKeyLimit).")
    }
    // It travels as a header's value.
    if bytes.first == 0x20 || bytes.last == 0x20 || bytes.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
      throw MessageFault(
        field: "collapseKey", "collapseKey holds a control character, or a space at an end: take it out.")
    }
  }

  private static func validateData(_ message: PushMessage) throws(MessageFault) {
    for key in message.data.keys.sorted() {
      if isReserved(dataKey: key) {
        throw MessageFault(
          field: "data.\(ServiceWords.shortened(key))",
          "The data key \(shown(key)) is reserved by \(key == "aps" ? "APNs" : "FCM"): choose another name.")
      }
    }
  }

  /// Whether FCM, or APNs, keeps the data key for itself.
  public static func isReserved(dataKey key: String) -> Bool {
    reservedDataKeys.contains(key) || reservedDataKeyPrefixes.contains { key.hasPrefix($0) }
  }

  /// `http` or `https`, a host, and nothing that has to be escaped.
  private static func isWebAddress(_ text: String) -> Bool {
    let lowercased = text.lowercased()
    guard let scheme = ["https://", "http://"].first(where: lowercased.hasPrefix) else { return false }
    let rest = text.utf8.dropFirst(scheme.utf8.count)
    guard let first = rest.first, ![UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains(first) else {
      return false
    }
    return rest.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "<") }
  }

  private static let knownPushTypes = PushType.known.map(\.rawValue).joined(separator: ", ")

  private static func shown(_ text: String) -> String { "\"\(ServiceWords.shortened(text))\"" }
}
