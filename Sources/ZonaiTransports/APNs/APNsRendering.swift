import ZonaiCore
import ZonaiJSON

/// A message as APNs gets it: one body for all recipients, rendered once a job, and the headers that go with it.
struct APNsRendering: Sendable, Hashable {
  let body: [UInt8]
  /// Without `authorization`, `apns-expiration` and the device's path.
  let headers: [Header]
  /// The bundle id with the push type's suffix.
  let topic: String
  let pushType: PushType
  /// nil when the message says nothing about it.
  let timeToLive: Int?

  struct Header: Sendable, Hashable {
    var name: String
    var value: String
  }

  init(_ message: PushMessage, bundleId: String) throws(MessageFault) {
    let pushType = message.effectivePushType
    guard let suffix = pushType.topicSuffix else {
      throw MessageFault(
        field: "pushType",
        "the push type '\(pushType.rawValue)' is not one that Zonai knows the topic of; use alert, background, "
          + "complication, controls, fileprovider, liveactivity, location, pushtotalk, voip or widgets")
    }
    body = JSON.object(try APNsRendering.members(of: message)).bytes
    topic = bundleId + suffix
    self.pushType = pushType
    timeToLive = message.timeToLive
    var headers = [
      Header(name: "apns-topic", value: topic), Header(name: "apns-push-type", value: pushType.rawValue),
      Header(name: "apns-priority", value: message.applePriority),
    ]
    if let key = message.collapseKey {
      guard key.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
        throw MessageFault(
          field: "collapseKey",
          "the collapse key goes into a header field of APNs, so it can hold ASCII letters, digits and signs only")
      }
      headers.append(Header(name: "apns-collapse-id", value: key))
    }
    self.headers = headers
  }

  /// What APNs allows the body to take.
  /// https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
  var limit: Int { pushType == .voip ? 5120 : 4096 }

  private static func members(of message: PushMessage) throws(MessageFault) -> [String: JSON] {
    for name in ["aps"] + (message.image == nil ? [] : ["fcm_options"]) where message.data[name] != nil {
      throw MessageFault(
        field: "data.\(name)", "the data key '\(name)' is taken in an APNs message; use another name, or apnsOverride")
    }
    // Beside `aps`, the body is the application's: the data stands there, as FCM puts it for Apple's devices.
    var members = message.data.mapValues { JSON.string($0) }
    var aps = message.apsWithoutAlert
    var alert: [String: JSON] = [:]
    if let title = message.title { alert["title"] = .string(title) }
    if let body = message.body { alert["body"] = .string(body) }
    if !alert.isEmpty { aps["alert"] = .object(alert) }
    // Apple has no field for a picture. FCM's name for it is the one that service extensions know.
    if let image = message.image { members["fcm_options"] = ["image": .string(image)] }
    members["aps"] = .object(aps)
    guard let text = message.apnsOverride else { return members }
    let override = try Override.read(text, field: "apnsOverride")
    if let aps = override["aps"], aps.object == nil {
      throw MessageFault(
        field: "apnsOverride.aps", "apnsOverride has \(aps.kind) as 'aps' where APNs wants an object")
    }
    Override.merge(override, into: &members)
    return members
  }
}
