import ZonaiCore
import ZonaiJSON

/// A message as FCM gets it: rendered once a job, measured per platform.
///
/// One body serves Android and Apple devices: FCM takes the `android` or the `apns` block, whichever the token belongs to.
struct FCMRendering: Sendable, Hashable {
  /// What FCM allows one platform's names and values to take together.
  /// https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
  static let limit = 4096

  let template: BodyTemplate
  /// nil when the message says nothing about it.
  let timeToLive: Int?
  /// What the larger of the two platforms' parts takes.
  let size: Int

  init(_ message: PushMessage) throws(MessageFault) {
    var members = FCMRendering.members(of: message)
    var holes = Holes(android: message.timeToLive != nil, apple: message.timeToLive != nil)
    if let text = message.fcmOverride {
      let override = try FCMOverride(text)
      Override.merge(override.members, into: &members)
      // What the override sets, or takes out with null, is constant.
      if override.members["android"].isSettingOrRemoving("ttl") { holes.android = false }
      if override.members["apns"].isSettingOrRemoving("headers", "apns-expiration") { holes.apple = false }
    }
    timeToLive = message.timeToLive
    size = max(FCMRendering.androidSize(members), FCMRendering.appleSize(members))
    template = FCMRendering.template(members, holes)
  }

  /// Which blocks carry what is left of the time to live.
  private struct Holes {
    var android: Bool
    var apple: Bool
  }

  private static func members(of message: PushMessage) -> [String: JSON] {
    var members: [String: JSON] = [:]
    if !message.data.isEmpty { members["data"] = .object(message.data.mapValues { .string($0) }) }
    var notification: [String: JSON] = [:]
    if let title = message.title { notification["title"] = .string(title) }
    if let body = message.body { notification["body"] = .string(body) }
    if let image = message.image { notification["image"] = .string(image) }
    if !notification.isEmpty { members["notification"] = .object(notification) }
    let android = android(message)
    if !android.isEmpty { members["android"] = .object(android) }
    members["apns"] = .object(apple(message))
    return members
  }

  private static func android(_ message: PushMessage) -> [String: JSON] {
    var android: [String: JSON] = [:]
    if let key = message.collapseKey { android["collapse_key"] = .string(key) }
    switch message.priority {
    case .high: android["priority"] = "HIGH"
    case .normal: android["priority"] = "NORMAL"
    case nil: break
    }
    // A notification block alone would show an empty notification, so a badge without text stays with Apple.
    guard message.isShown else { return android }
    var notification: [String: JSON] = [:]
    if let sound = message.sound { notification["sound"] = .string(sound) }
    if let category = message.category { notification["click_action"] = .string(category) }
    if let badge = message.badge { notification["notification_count"] = .integer(Int64(badge)) }
    if !notification.isEmpty { android["notification"] = .object(notification) }
    return android
  }

  private static func apple(_ message: PushMessage) -> [String: JSON] {
    var headers: [String: JSON] = [
      "apns-push-type": .string(message.effectivePushType.rawValue), "apns-priority": .string(message.applePriority),
    ]
    if let key = message.collapseKey { headers["apns-collapse-id"] = .string(key) }
    var apple: [String: JSON] = ["headers": .object(headers)]
    // FCM writes the alert itself, from `notification`.
    let aps = message.apsWithoutAlert
    if !aps.isEmpty { apple["payload"] = ["aps": .object(aps)] }
    return apple
  }

  private static func androidSize(_ members: [String: JSON]) -> Int {
    var data = members["data"]?.object ?? [:]
    Override.merge(members["android"]?["data"]?.object ?? [:], into: &data)
    var notification = members["notification"]?.object ?? [:]
    Override.merge(members["android"]?["notification"]?.object ?? [:], into: &notification)
    return JSON.object(data).countedSize + JSON.object(notification).countedSize
  }

  private static func appleSize(_ members: [String: JSON]) -> Int {
    [members["data"], members["notification"], members["apns"]?["payload"]].reduce(0) { $0 + ($1?.countedSize ?? 0) }
  }

  /// Writes the holes first in their objects; the rest follows sorted by name.
  private static func template(_ members: [String: JSON], _ holes: Holes) -> BodyTemplate {
    var members = members
    var template = BodyTemplate()
    template.append(#"{"message":{"token":""#)
    template.append(.token)
    template.append("\"")
    if holes.android {
      template.append(#","android":{"ttl":""#)
      template.append(.secondsLeft)
      template.append("s\"")
      template.append(following: members.removeValue(forKey: "android")?.object ?? [:])
      template.append("}")
    }
    if holes.apple {
      var apple = members.removeValue(forKey: "apns")?.object ?? [:]
      template.append(#","apns":{"headers":{"apns-expiration":""#)
      template.append(.endsAt)
      template.append("\"")
      template.append(following: apple.removeValue(forKey: "headers")?.object ?? [:])
      template.append("}")
      template.append(following: apple)
      template.append("}")
    }
    template.append(following: members)
    template.append("}}")
    return template
  }
}

extension BodyTemplate {
  /// Appends members to an object that has at least one.
  fileprivate mutating func append(following members: [String: JSON]) {
    guard !members.isEmpty else { return }
    append(",")
    append(JSON.object(members).bytes.dropFirst().dropLast())
  }
}

extension JSON? {
  /// Whether merging it changes the member at this path: it names it, or replaces something on the way there.
  fileprivate func isSettingOrRemoving(_ path: String...) -> Bool {
    guard var here = self else { return false }
    for name in path {
      guard case .object(let members) = here else { return true }
      guard let next = members[name] else { return false }
      here = next
    }
    return true
  }
}
