import ZonaiJSON

/// A send request whose shape is right: its target, and the rules of FCM itself.
struct FCMMessage {
  enum Target: Equatable {
    case token(String)
    /// A topic, a condition or an installation id: accepted, and delivered to nobody in particular.
    case other(String)
  }

  let target: Target
  let isDryRun: Bool

  init(_ request: JSON, schema: ProtoShape) throws(FCMRefusal) {
    try schema.check(request, at: "", named: "")
    let message = request["message"] ?? .object([:])
    isDryRun = (request["validate_only"] ?? request["validateOnly"])?.bool ?? false
    target = try Self.target(message)
    let android = message["android"] ?? .null
    try Self.checkData(message["data"])
    try Self.checkData(android["data"])
    try Self.checkTimeToLive(android["ttl"])
    try Self.checkSize(message, android)
  }

  /// The token, as far as one can be told from any JSON, for faults that are scripted by token.
  static func token(_ request: JSON?) -> String? { request?["message"]?["token"]?.string }

  private static func target(_ message: JSON) throws(FCMRefusal) -> Target {
    let named = ["token", "topic", "condition", "fid"].filter { message[$0]?.string != nil }
    if named.count > 1 {
      throw .shape(
        "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set '\(named[1])'",
        field: "message")
    }
    guard let name = named.first, let value = message[name]?.string, !value.isEmpty else {
      throw .noRecipient()
    }
    return name == "token" ? .token(value) : .other("\(name) \(value)")
  }

  private static func checkData(_ data: JSON?) throws(FCMRefusal) {
    for key in (data?.object ?? [:]).keys.sorted()
    where key == "from" || key == "message_type" || key.hasPrefix("google") || key.hasPrefix("gcm") {
      throw .reservedKey(key)
    }
  }

  /// Four weeks at most, none below zero.
  private static func checkTimeToLive(_ ttl: JSON?) throws(FCMRefusal) {
    guard let text = ttl?.string, let seconds = ProtoShape.seconds(text) else { return }
    guard (0...2_419_200).contains(seconds) else {
      var refusal = FCMRefusal.fcm(
        400, "INVALID_ARGUMENT", "Request contains an invalid argument.", "INVALID_ARGUMENT")
      refusal.violations = [("message.android.ttl", "Invalid time to live")]
      throw refusal
    }
  }

  /// 4096 bytes for the keys and values of what one platform gets; its own block takes the place of the common one.
  private static func checkSize(_ message: JSON, _ android: JSON) throws(FCMRefusal) {
    let data = android["data"] ?? message["data"]
    let shown = (message["notification"]?.object ?? [:]).merging(android["notification"]?.object ?? [:]) { $1 }
    let count = size(data?.object ?? [:]) + size(shown)
    let payload = message["apns"]?["payload"].map(\.bytes.count) ?? 0
    guard count <= 4096, payload <= 4096 else { throw .tooBig() }
  }

  private static func size(_ members: [String: JSON]) -> Int {
    members.reduce(0) { $0 + $1.key.utf8.count + ($1.value.string?.utf8.count ?? $1.value.bytes.count) }
  }
}
