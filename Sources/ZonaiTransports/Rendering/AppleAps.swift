import ZonaiCore
import ZonaiJSON

extension PushMessage {
  /// Apple's `aps` dictionary, without the alert.
  /// https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
  var apsWithoutAlert: [String: JSON] {
    var aps: [String: JSON] = [:]
    if let sound { aps["sound"] = .string(sound) }
    if let badge { aps["badge"] = .integer(Int64(badge)) }
    if let thread { aps["thread-id"] = .string(thread) }
    if let category { aps["category"] = .string(category) }
    if isBackground { aps["content-available"] = 1 }
    // The application's service extension fetches the picture, and runs for this only.
    if image != nil { aps["mutable-content"] = 1 }
    return aps
  }

  /// `apns-priority`. A background push with 10 is an error to APNs.
  var applePriority: String {
    if effectivePushType == .background { return "5" }
    return priority == .normal ? "5" : "10"
  }

  /// Whether there is something for a person to see.
  var isShown: Bool { title != nil || body != nil || image != nil }
}
