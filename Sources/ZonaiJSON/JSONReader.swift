/// A reader by recursive descent over bytes that stay where they are. Lives no longer than the buffer.
struct JSONReader {
  let bytes: UnsafeBufferPointer<UInt8>
  let depthLimit: Int
  var position = 0

  init(bytes: UnsafeBufferPointer<UInt8>, depthLimit: Int) {
    self.bytes = bytes
    self.depthLimit = depthLimit
  }

  mutating func document() throws(JSONError) -> JSON {
    if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { position = 3 }
    skipSpace()
    guard position < bytes.count else { throw error(.empty, "there is no JSON here") }
    let value = try value(depth: 0)
    skipSpace()
    guard position == bytes.count else { throw error(.syntax, "nothing more is expected after the end of the value") }
    return value
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSON {
    guard let byte = peek() else { throw error(.syntax, "a value is expected, but the text ends here") }
    switch byte {
    case UInt8(ascii: "{"): return try object(depth: depth + 1)
    case UInt8(ascii: "["): return try array(depth: depth + 1)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: throw error(.syntax, "a value is expected here")
    }
  }

  private mutating func object(depth: Int) throws(JSONError) -> JSON {
    try checkDepth(depth)
    position += 1
    var members: [String: JSON] = [:]
    skipSpace()
    if take(UInt8(ascii: "}")) { return .object(members) }
    while true {
      skipSpace()
      let start = position
      guard peek() == UInt8(ascii: "\"") else { throw error(.syntax, "a name in double quotes is expected here") }
      let name = try string()
      skipSpace()
      guard take(UInt8(ascii: ":")) else { throw error(.syntax, "a colon is expected here") }
      skipSpace()
      let member = try value(depth: depth)
      guard members.updateValue(member, forKey: name) == nil else {
        throw JSONError(.duplicateKey, "\"\(name)\" is there twice", at: start, in: bytes)
      }
      skipSpace()
      if take(UInt8(ascii: ",")) { continue }
      if take(UInt8(ascii: "}")) { return .object(members) }
      throw error(.syntax, "a comma or '}' is expected here")
    }
  }

  private mutating func array(depth: Int) throws(JSONError) -> JSON {
    try checkDepth(depth)
    position += 1
    var elements: [JSON] = []
    skipSpace()
    if take(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      skipSpace()
      elements.append(try value(depth: depth))
      skipSpace()
      if take(UInt8(ascii: ",")) { continue }
      if take(UInt8(ascii: "]")) { return .array(elements) }
      throw error(.syntax, "a comma or ']' is expected here")
    }
  }

  private mutating func word(_ word: StaticString, _ value: JSON) throws(JSONError) -> JSON {
    let end = position + word.utf8CodeUnitCount
    guard end <= bytes.count,
      bytes[position..<end].elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    else { throw error(.syntax, "a value is expected here; words are true, false and null") }
    position = end
    return value
  }

  private func checkDepth(_ depth: Int) throws(JSONError) {
    guard depth <= depthLimit else {
      throw error(.tooDeep, "lists and objects lie more than \(depthLimit) deep in one another")
    }
  }

  mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func take(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    position += 1
    return true
  }

  func error(_ code: JSONError.Code, _ problem: String) -> JSONError {
    JSONError(code, problem, at: position, in: bytes)
  }
}
