import ZonaiCore
import ZonaiJSON

extension PushMessage {
  /// The members of a message that is written as JSON, in a file or in a request.
  package static let fields = [
    "title", "body", "data", "collapseKey", "timeToLive", "priority", "sound", "badge", "image", "thread", "category",
    "isBackground", "pushType", "fcmOverride", "apnsOverride",
  ]

  /// Reads the fields of `PushMessage`, the overrides as JSON objects.
  package init(_ fields: FieldReader) throws(FieldFault) {
    self.init()
    title = try fields.string("title")
    body = try fields.string("body")
    data = try fields.texts("data")
    collapseKey = try fields.string("collapseKey")
    timeToLive = try fields.integer("timeToLive", in: 0...MessageRules.timeToLiveLimit)
    priority = try fields.word("priority", [PushMessage.Priority.high, .normal])
    sound = try fields.string("sound")
    badge = try fields.integer("badge", in: 0...Int(Int32.max))
    image = try fields.string("image")
    thread = try fields.string("thread")
    category = try fields.string("category")
    isBackground = try fields.boolean("isBackground") ?? false
    pushType = try fields.string("pushType").map(PushType.init(rawValue:))
    fcmOverride = try fields.json("fcmOverride")
    apnsOverride = try fields.json("apnsOverride")
  }

  /// What is set, as it is read again. An override that is no JSON stays text, which is refused where it is read.
  package var json: JSON {
    var members: [String: JSON] = [:]
    let texts = [
      ("title", title), ("body", body), ("collapseKey", collapseKey), ("priority", priority?.rawValue),
      ("sound", sound), ("image", image), ("thread", thread), ("category", category), ("pushType", pushType?.rawValue),
    ]
    for (name, text) in texts { members[name] = text.map(JSON.string) }
    for (name, number) in [("timeToLive", timeToLive), ("badge", badge)] {
      members[name] = number.map { .integer(Int64($0)) }
    }
    if !data.isEmpty { members["data"] = .object(data.mapValues(JSON.string)) }
    if isBackground { members["isBackground"] = true }
    for (name, text) in [("fcmOverride", fcmOverride), ("apnsOverride", apnsOverride)] {
      members[name] = text.map { (try? JSON(parsing: $0)) ?? .string($0) }
    }
    return .object(members)
  }
}
