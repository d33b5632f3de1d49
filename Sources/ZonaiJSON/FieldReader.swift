/// Reads the members of one object that people write, and refuses what it does not know by name and place.
///
/// A member that is `null` counts as not written.
package struct FieldReader {
  package let members: [String: JSON]
  /// What the object stands in, for sentences: a file's name, or "the request".
  package let document: String
  /// What stands before a member's name in sentences: nothing, or `apns.`.
  private let prefix: String

  package init(_ value: JSON, document: String, fields: [String]) throws(FieldFault) {
    try self.init(value, document: document, prefix: "", fields: fields)
  }

  private init(_ value: JSON, document: String, prefix: String, fields: [String]) throws(FieldFault) {
    guard let members = value.object else {
      let place = prefix.isEmpty ? document : "\(document): '\(prefix.dropLast())'"
      throw FieldFault(sentence: "\(place) must be an object, and is \(value.kind)")
    }
    self.members = members
    self.document = document
    self.prefix = prefix
    if let unknown = members.keys.sorted().first(where: { !fields.contains($0) }) {
      throw problem("there is no field '\(prefix)\(unknown)'\(Nearest.hint(unknown, in: fields))")
    }
  }

  package func object(_ name: String, fields: [String]) throws(FieldFault) -> FieldReader? {
    guard let value = value(name) else { return nil }
    return try FieldReader(value, document: document, prefix: "\(prefix)\(name).", fields: fields)
  }

  /// Text that is not empty; `expected` says in a sentence what it was to be.
  package func string(_ name: String, else expected: String = "text that is not empty") throws(FieldFault) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.string, !text.isEmpty else { throw wrong(name, expected) }
    return text
  }

  package func required(_ name: String, _ what: String) throws(FieldFault) -> String {
    guard let text = try string(name) else { throw missing(name, what) }
    return text
  }

  package func boolean(_ name: String) throws(FieldFault) -> Bool? {
    guard let value = value(name) else { return nil }
    guard let boolean = value.bool else { throw wrong(name, "true or false") }
    return boolean
  }

  package func integer(_ name: String, in range: ClosedRange<Int>) throws(FieldFault) -> Int? {
    guard let value = value(name) else { return nil }
    guard let number = value.integer.flatMap(Int.init(exactly:)), range.contains(number) else {
      throw wrong(name, "a whole number, \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// A time in seconds, fractions allowed.
  package func seconds(_ name: String, in range: ClosedRange<Double>) throws(FieldFault) -> Double? {
    guard let value = value(name) else { return nil }
    guard let number = value.number, range.contains(number) else {
      throw wrong(name, "a number of seconds, \(short(range.lowerBound)) to \(short(range.upperBound))")
    }
    return number
  }

  package func word<Word: RawRepresentable>(
    _ name: String, _ words: [Word]
  ) throws(FieldFault) -> Word? where Word.RawValue == String {
    guard let value = value(name) else { return nil }
    guard let word = words.first(where: { $0.rawValue == value.string }) else {
      throw wrong(name, "one of " + words.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))
    }
    return word
  }

  /// An object whose members are all text; empty when it was not written.
  package func texts(_ name: String) throws(FieldFault) -> [String: String] {
    guard let value = value(name) else { return [:] }
    guard let members = value.object else { throw wrong(name, "an object") }
    var texts: [String: String] = [:]
    for (key, member) in members {
      guard let text = member.string else { throw wrong("\(name).\(key)", "text", member) }
      texts[key] = text
    }
    return texts
  }

  /// One text or a list of them; empty when it was not written.
  package func list(_ name: String) throws(FieldFault) -> [String] {
    guard let value = value(name) else { return [] }
    let texts = (value.array ?? [value]).compactMap { $0.string == "" ? nil : $0.string }
    guard texts.count == value.array?.count ?? 1 else { throw wrong(name, "text that is not empty, or a list of such") }
    return texts
  }

  /// An object as JSON text.
  package func json(_ name: String) throws(FieldFault) -> String? {
    guard let value = value(name) else { return nil }
    guard value.object != nil else { throw wrong(name, "an object") }
    return value.text
  }

  package func missing(_ name: String, _ what: String) -> FieldFault {
    problem("'\(prefix)\(name)' is missing: \(what)")
  }

  /// What is wrong with the document as a whole.
  package func problem(_ sentence: String) -> FieldFault { FieldFault(sentence: "\(document): \(sentence)") }

  /// Numbers and words are shown; text may be a secret, so only its kind is.
  package func wrong(_ name: String, _ expected: String, _ value: JSON? = nil) -> FieldFault {
    let value = value ?? members[name] ?? .null
    let found = value.number != nil || value.bool != nil ? value.text : value.string == "" ? "empty" : value.kind
    return problem("'\(prefix)\(name)' must be \(expected), and is \(found)")
  }

  private func value(_ name: String) -> JSON? { members[name].flatMap { $0.isNull ? JSON?.none : $0 } }

  private func short(_ number: Double) -> String {
    number == number.rounded() ? String(Int(number)) : String(number)
  }
}

/// What is wrong with an object that somebody wrote: where, and what belongs there.
package struct FieldFault: Error, Sendable, Hashable {
  package var sentence: String

  package init(sentence: String) { self.sentence = sentence }
}
