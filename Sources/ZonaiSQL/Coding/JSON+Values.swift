import ZonaiCore
import ZonaiJSON

// How Zonai's tables keep keys, recipients and rejections: as JSON, written and read by hand. A batch may hold hundreds of
// them, and a predicate a hundred thousand values: general coders cost too much here.

/// A value that Zonai's tables keep as JSON.
protocol StoredAsJSON {
  var json: JSON { get }
  init(json: JSON) throws(StoreError)
}

extension StoredAsJSON {
  var stored: String { json.text }

  init(stored text: String) throws(StoreError) {
    let json: JSON
    do throws(JSONError) { json = try JSON(parsing: text) } catch { throw .unreadable(Self.self, "\(error)") }
    try self.init(json: json)
  }
}

extension Array where Element: StoredAsJSON {
  var stored: String { JSON.array(map(\.json)).text }

  init(stored text: String) throws(StoreError) {
    let json: JSON
    do throws(JSONError) { json = try JSON(parsing: text) } catch { throw .unreadable(Element.self, "\(error)") }
    guard let elements = json.array else { throw .unreadable(Element.self, "it is \(json.kind)") }
    self = []
    reserveCapacity(elements.count)
    for element in elements { append(try Element(json: element)) }
  }
}

extension StoreError {
  static func unreadable<Stored>(_ type: Stored.Type, _ problem: String) -> StoreError {
    StoreError(
      .corrupt, "a \(type) in Zonai's tables cannot be read: somebody else changed it, or a newer Zonai wrote it",
      databaseWords: problem)
  }

  /// Whether it is from `unreadable`: what the database itself finds damaged, it finds in a statement.
  var isUnreadable: Bool { code == .corrupt && statement == nil }
}

extension JSON {
  /// The member, if it is text; throws what is missing otherwise.
  func text<Owner>(_ name: String, of owner: Owner.Type) throws(StoreError) -> String {
    guard let text = self[name]?.string else { throw .unreadable(owner, "\(name) is missing") }
    return text
  }

  func whole(_ name: String) -> Int64? { self[name]?.integer }
}

extension Value: StoredAsJSON {
  var json: JSON {
    switch self {
    case .null: .null
    case .boolean(let boolean): .bool(boolean)
    case .integer(let integer): .integer(integer)
    // As text, so that it comes back as a real, with all its digits, infinity included.
    case .real(let real): ["real": .string("\(real)")]
    case .text(let text): .string(text)
    case .bytes(let bytes): ["bytes": .string(bytes.hex)]
    }
  }

  init(json: JSON) throws(StoreError) {
    switch json {
    case .null: self = .null
    case .bool(let boolean): self = .boolean(boolean)
    case .integer(let integer): self = .integer(integer)
    // A larger one may have lost its last digits when it was read.
    case .number(let number) where number.magnitude >= 0x1p53:
      throw .unreadable(Value.self, "a number of so many digits is written as text")
    case .number(let number): self = .real(number)
    case .string(let text): self = .text(text)
    case .object:
      if let real = json["real"]?.string.flatMap(Double.init) {
        self = .real(real)
      } else if let bytes = json["bytes"]?.string.flatMap([UInt8].init(hex:)) {
        self = .bytes(bytes)
      } else {
        throw .unreadable(Value.self, "it has neither real nor bytes")
      }
    case .array: throw .unreadable(Value.self, "it is a list")
    }
  }
}

extension RowKey: StoredAsJSON {
  var json: JSON { .array(values.map(\.json)) }

  init(json: JSON) throws(StoreError) {
    guard let elements = json.array else { throw .unreadable(RowKey.self, "it is \(json.kind)") }
    var values: [Value] = []
    for element in elements { values.append(try Value(json: element)) }
    self.init(values)
  }
}

extension RowKey {
  /// A key of one integer, the common case, is read and written without more ado.
  var stored: String {
    if values.count == 1, case .integer(let number) = values[0] { return "[\(number)]" }
    return json.text
  }

  init(stored text: String) throws(StoreError) {
    if text.utf8.count < 24, text.utf8.first == UInt8(ascii: "["), text.utf8.last == UInt8(ascii: "]"),
      let number = Int64(text.dropFirst().dropLast()), "[\(number)]" == text
    {
      self.init([.integer(number)])
      return
    }
    let json: JSON
    do throws(JSONError) { json = try JSON(parsing: text) } catch { throw .unreadable(Self.self, "\(error)") }
    try self.init(json: json)
  }

  /// Equal exactly when the keys are, byte for byte: Swift takes two spellings of "é" for one text.
  public var identity: [UInt8] { json.bytes }
}

extension JobNote: StoredAsJSON {
  var json: JSON { ["code": .string(code.rawValue), "sentence": .string(sentence)] }

  init(json: JSON) throws(StoreError) {
    self.init(
      Code(rawValue: try json.text("code", of: JobNote.self)), try json.text("sentence", of: JobNote.self))
  }
}

extension Group: StoredAsJSON {
  var json: JSON { [.string(transport.rawValue), .string(fingerprint), .string(platform.name)] }

  init(json: JSON) throws(StoreError) {
    guard let transport = json[0]?.string, let fingerprint = json[1]?.string, let platform = json[2]?.string else {
      throw .unreadable(Group.self, "it wants three texts")
    }
    self.init(
      transport: TransportName(rawValue: transport), fingerprint: fingerprint, platform: Platform(platform))
  }
}
