import ZonaiJSON

/// What the control says to a request that it refuses.
struct ControlRefusal: Error {
  var status: Int
  var code: String
  var message: String

  init(_ status: Int, _ code: String, _ message: String) {
    self.status = status
    self.code = code
    self.message = message
  }

  static func field(_ name: String, _ problem: String) -> ControlRefusal {
    ControlRefusal(400, "bad_field", "\"\(name)\" \(problem)")
  }
}

/// The members of a request's object, read one by one. What nobody asked for is refused by name, since a misspelt field
/// would otherwise be an effect that never comes.
struct ControlFields {
  private var left: [String: JSON]

  init(_ body: JSON) throws(ControlRefusal) {
    guard let members = body.object else {
      throw ControlRefusal(400, "bad_body", "a JSON object is expected, not \(body.kind)")
    }
    left = members
  }

  mutating func json(_ name: String) -> JSON? {
    let value = left.removeValue(forKey: name)
    return value?.isNull == true ? nil : value
  }

  mutating func text(_ name: String) throws(ControlRefusal) -> String? {
    guard let value = json(name) else { return nil }
    guard let text = value.string else { throw .field(name, "is text, not \(value.kind)") }
    return text
  }

  mutating func flag(_ name: String) throws(ControlRefusal) -> Bool? {
    guard let value = json(name) else { return nil }
    guard let flag = value.bool else { throw .field(name, "is true or false, not \(value.kind)") }
    return flag
  }

  mutating func number(_ name: String, in range: ClosedRange<Int64>) throws(ControlRefusal) -> Int64? {
    guard let value = json(name) else { return nil }
    guard let number = value.integer, range.contains(number) else {
      throw .field(name, "is a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  mutating func choice<Value: RawRepresentable & CaseIterable>(
    _ name: String, as type: Value.Type = Value.self
  ) throws(ControlRefusal) -> Value? where Value.RawValue == String {
    guard let text = try text(name) else { return nil }
    guard let value = Value(rawValue: text) else {
      let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw .field(name, "is one of \(words); \"\(text)\" is not")
    }
    return value
  }

  func finish() throws(ControlRefusal) {
    guard let name = left.keys.min() else { return }
    throw ControlRefusal(400, "unknown_field", "there is no field \"\(name)\" here")
  }
}
