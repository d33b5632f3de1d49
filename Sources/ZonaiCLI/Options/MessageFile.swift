import ZonaiCore
import ZonaiJSON

/// A message as people write it into a file: the fields of `PushMessage`, the overrides as JSON objects.
enum MessageFile {
  private static let fields = [
    "title", "body", "data", "collapseKey", "timeToLive", "priority", "sound", "badge", "image", "thread", "category",
    "isBackground", "pushType", "fcmOverride", "apnsOverride",
  ]

  static func read(_ file: String) throws(CommandFailure) -> PushMessage {
    do throws(CommandFailure) {
      let bytes = try TextFile.read(file, as: "the message file")
      return try message(try FieldReader(try TextFile.json(bytes, file: file), file: file, fields: fields))
    } catch {
      throw CommandFailure("message", error.sentence, exitCode: error.exitCode)
    }
  }

  private static func message(_ fields: FieldReader) throws(CommandFailure) -> PushMessage {
    var message = PushMessage()
    message.title = try fields.string("title")
    message.body = try fields.string("body")
    message.data = try fields.texts("data")
    message.collapseKey = try fields.string("collapseKey")
    message.timeToLive = try fields.integer("timeToLive", in: 0...MessageRules.timeToLiveLimit)
    message.priority = try fields.word("priority", [PushMessage.Priority.high, .normal])
    message.sound = try fields.string("sound")
    message.badge = try fields.integer("badge", in: 0...Int(Int32.max))
    message.image = try fields.string("image")
    message.thread = try fields.string("thread")
    message.category = try fields.string("category")
    message.isBackground = try fields.boolean("isBackground") ?? false
    message.pushType = try fields.string("pushType").map(PushType.init(rawValue:))
    message.fcmOverride = try fields.json("fcmOverride")
    message.apnsOverride = try fields.json("apnsOverride")
    return message
  }
}
