import ZonaiJSON

/// Reads the members of one object of the configuration, and refuses what it does not know by name and place.
struct FieldReader {
  let members: [String: JSON]
  private let file: String
  /// What stands before a member's name in sentences: nothing, or `apns.`.
  private let prefix: String

  init(_ value: JSON, file: String, fields: [String]) throws(CommandFailure) {
    try self.init(value, file: file, prefix: "", fields: fields)
  }

  private init(_ value: JSON, file: String, prefix: String, fields: [String]) throws(CommandFailure) {
    guard let members = value.object else {
      let place = prefix.isEmpty ? file : "\(file): '\(prefix.dropLast())'"
      throw .configuration("\(place) must be an object, and is \(value.kind)")
    }
    self.members = members
    self.file = file
    self.prefix = prefix
    if let unknown = members.keys.sorted().first(where: { !fields.contains($0) }) {
      throw problem("there is no field '\(prefix)\(unknown)'\(Nearest.hint(unknown, in: fields))")
    }
  }

  func object(_ name: String, fields: [String]) throws(CommandFailure) -> FieldReader? {
    guard let value = value(name) else { return nil }
    return try FieldReader(value, file: file, prefix: "\(prefix)\(name).", fields: fields)
  }

  func string(_ name: String) throws(CommandFailure) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.string, !text.isEmpty else { throw wrong(name, "text that is not empty", value) }
    return text
  }

  func required(_ name: String, _ what: String) throws(CommandFailure) -> String {
    guard let text = try string(name) else { throw missing(name, what) }
    return text
  }

  /// A path, made to begin where the file is.
  func path(_ name: String, else expected: String = "the path of a file") throws(CommandFailure) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.string, !text.isEmpty else { throw wrong(name, expected, value) }
    return TextFile.resolve(text, besides: file)
  }

  func boolean(_ name: String) throws(CommandFailure) -> Bool? {
    guard let value = value(name) else { return nil }
    guard let boolean = value.bool else { throw wrong(name, "true or false", value) }
    return boolean
  }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
    guard let value = value(name) else { return nil }
    guard let number = value.integer.flatMap(Int.init(exactly:)), range.contains(number) else {
      throw wrong(name, "a whole number, \(range.lowerBound) to \(range.upperBound)", value)
    }
    return number
  }

  /// A time in seconds, fractions allowed.
  func seconds(_ name: String, in range: ClosedRange<Double>) throws(CommandFailure) -> Double? {
    guard let value = value(name) else { return nil }
    guard let number = value.number, range.contains(number) else {
      throw wrong(name, "a number of seconds, \(short(range.lowerBound)) to \(short(range.upperBound))", value)
    }
    return number
  }

  /// A number of days, or "off".
  func retention(_ name: String) throws(CommandFailure) -> RetentionDays? {
    guard let value = value(name) else { return nil }
    if let number = value.number, RetentionDays.bounds.contains(number) { return RetentionDays(days: number) }
    guard let text = value.string, let never = try? RetentionDays(text), never.seconds == nil else {
      throw wrong(name, "a number of days, 0.01 to 36525, or \"off\"", value)
    }
    return never
  }

  func word<Word: RawRepresentable>(
    _ name: String, _ words: [Word]
  ) throws(CommandFailure) -> Word? where Word.RawValue == String {
    guard let value = value(name) else { return nil }
    guard let word = words.first(where: { $0.rawValue == value.string }) else {
      throw wrong(name, "one of " + words.map { "\"\($0.rawValue)\"" }.joined(separator: ", "), value)
    }
    return word
  }

  /// An object whose members are all text; empty when it was not written.
  func texts(_ name: String) throws(CommandFailure) -> [String: String] {
    guard let value = value(name) else { return [:] }
    guard let members = value.object else { throw wrong(name, "an object", value) }
    var texts: [String: String] = [:]
    for (key, member) in members {
      guard let text = member.string else { throw wrong("\(name).\(key)", "text", member) }
      texts[key] = text
    }
    return texts
  }

  /// An object as JSON text.
  func json(_ name: String) throws(CommandFailure) -> String? {
    guard let value = value(name) else { return nil }
    guard value.object != nil else { throw wrong(name, "an object", value) }
    return value.text
  }

  func missing(_ name: String, _ what: String) -> CommandFailure {
    problem("'\(prefix)\(name)' is missing: \(what)")
  }

  func problem(_ sentence: String) -> CommandFailure { .configuration("\(file): \(sentence)") }

  /// A member that is `null` counts as not written.
  private func value(_ name: String) -> JSON? { members[name].flatMap { $0.isNull ? JSON?.none : $0 } }

  /// Numbers and words are shown; text may be a secret, so only its kind is.
  private func wrong(_ name: String, _ expected: String, _ value: JSON) -> CommandFailure {
    let found = value.number != nil || value.bool != nil ? value.text : value.string == "" ? "empty" : value.kind
    return problem("'\(prefix)\(name)' must be \(expected), and is \(found)")
  }

  private func short(_ number: Double) -> String {
    number == number.rounded() ? String(Int(number)) : String(number)
  }
}
