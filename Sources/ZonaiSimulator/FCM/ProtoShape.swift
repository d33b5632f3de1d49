import ZonaiJSON

/// What may stand in a field of a request, in the words of Google's JSON front end.
indirect enum ProtoShape: Sendable {
  case text
  case bool
  case integer
  case duration
  /// The name of the type, and its values.
  case choice(String, [String])
  case map
  case list(ProtoShape)
  case message([String: ProtoShape])
  /// Any object.
  case open

  /// Refuses the first thing that does not fit, with its path.
  func check(_ value: JSON, at path: String, named name: String) throws(FCMRefusal) {
    if value.isNull { return }
    switch self {
    case .text: guard value.string != nil else { throw Self.invalid(value, path, "TYPE_STRING") }
    case .bool: guard value.bool != nil else { throw Self.invalid(value, path, "TYPE_BOOL") }
    case .integer:
      // Proto's JSON takes numbers as text as well.
      guard value.integer != nil || value.string.flatMap({ Int64($0) }) != nil else {
        throw Self.invalid(value, path, "TYPE_INT32")
      }
    case .duration: try Self.checkDuration(value, path, name)
    case .choice(let type, let values):
      guard let text = value.string, values.contains(text.uppercased()) else { throw Self.invalid(value, path, type) }
    case .map:
      guard let members = value.object else { throw Self.invalid(value, path, "Map") }
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() where member.value.string == nil {
        throw Self.invalid(member.value, "\(path)[\(index)].value", "TYPE_STRING")
      }
    case .list(let element):
      guard let elements = value.array else { throw Self.invalid(value, path, "List") }
      for (index, value) in elements.enumerated() {
        try element.check(value, at: "\(path)[\(index)]", named: name)
      }
    case .message(let fields): try Self.check(value, against: fields, at: path)
    case .open:
      guard value.object != nil else { throw Self.invalid(value, path, "type.googleapis.com/google.protobuf.Struct") }
    }
  }

  private static func check(
    _ value: JSON, against fields: [String: ProtoShape], at path: String
  ) throws(FCMRefusal) {
    guard let members = value.object else { throw invalid(value, path, "Object") }
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      let proto = snakeCase(name)
      guard let shape = fields[proto] else { throw unknown(name, path) }
      try shape.check(value, at: path.isEmpty ? proto : "\(path).\(proto)", named: proto)
    }
  }

  private static func checkDuration(_ value: JSON, _ path: String, _ name: String) throws(FCMRefusal) {
    let type = "type.googleapis.com/google.protobuf.Duration"
    guard let text = value.string else { throw invalid(value, path, type) }
    guard text.last == "s", seconds(text) != nil else {
      throw .shape(
        "Invalid value at '\(path)' (\(type)), Field '\(name)', Illegal duration format; duration must end with 's'",
        field: path)
    }
  }

  /// The number of a duration such as "3.5s".
  static func seconds(_ text: String) -> Double? {
    let number = text.dropLast()
    guard number.utf8.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E || $0 == 0x2D }) else { return nil }
    return Double(number)
  }

  private static func invalid(_ value: JSON, _ path: String, _ type: String) -> FCMRefusal {
    .shape("Invalid value at '\(path)' (\(type)), \(value.text)", field: path)
  }

  private static func unknown(_ name: String, _ path: String) -> FCMRefusal {
    let place = path.isEmpty ? "" : " at '\(path)'"
    return .shape(
      "Invalid JSON payload received. Unknown name \"\(name)\"\(place): Cannot find field.",
      field: path.isEmpty ? nil : path)
  }

  /// Proto's JSON takes `collapseKey` and `collapse_key` alike.
  static func snakeCase(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 >= 0x41 && $0 <= 0x5A }) else { return name }
    return name.reduce(into: "") { text, letter in
      text += letter.isUppercase ? "_" + letter.lowercased() : String(letter)
    }
  }
}
