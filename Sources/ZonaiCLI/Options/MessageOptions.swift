import ZonaiCore

/// The options that say what is sent: a few words on the command line, or a file with every field.
enum MessageOptions {
  static let title = Option("--title", "TEXT", "what a person reads first")
  static let body = Option("--body", "TEXT", "and then")
  static let file = Option(
    "--message", "FILE", "a JSON file with the message, in the place of --title and --body; see docs/command.md")
  static let data = Option(
    "--data", "KEY=VALUE", "a key of your own, handed to the app; may be repeated, and adds to the file's",
    isRepeated: true)
  static let collapseKey = Option("--collapse-key", "KEY", "messages with one key replace each other on a device")
  static let ttl = Option<Int>(
    "--ttl", "SECONDS", "how long the services keep the message for a device that is away; 0 is now or never",
    in: 0...MessageRules.timeToLiveLimit)

  static func add(to options: inout OptionList) {
    options.add(title)
    options.add(body)
    options.add(file)
    options.add(data)
    options.add(collapseKey)
    options.add(ttl)
  }

  /// The message, checked for what can be known before any service is asked.
  static func message(_ arguments: Arguments) throws(CommandFailure) -> PushMessage {
    let (title, body, file) = (
      try arguments.value(title), try arguments.value(body), try arguments.value(file)
    )
    if file != nil, title != nil || body != nil {
      throw .usage("--message says it all; leave \(title == nil ? body.map { _ in "--body" } ?? "" : "--title") out")
    }
    var message: PushMessage
    if let file { message = try MessageFile.read(file) } else { message = PushMessage(title: title, body: body) }
    for pair in try arguments.values(data) {
      guard let equals = pair.firstIndex(of: "="), equals != pair.startIndex else {
        throw .usage("--data wants KEY=VALUE, not '\(pair)'")
      }
      let (key, value) = (String(pair[..<equals]), String(pair[pair.index(after: equals)...]))
      guard message.data.updateValue(value, forKey: key) == nil else {
        throw .usage("the data key '\(key)' was given twice; give it once")
      }
    }
    if let key = try arguments.value(collapseKey) { message.collapseKey = key }
    if let seconds = try arguments.value(ttl) { message.timeToLive = seconds }
    if message == PushMessage() { throw .usage("say what to send: --title and --body, --data, or --message FILE") }
    do { try MessageRules.validate(message) } catch { throw .message(error) }
    return message
  }
}
