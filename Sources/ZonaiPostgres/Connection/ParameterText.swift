import ZonaiCore

/// Values in the form in which they go to the server: as text, which it reads by the type that the statement gives them.
enum ParameterText {
  /// The text of one value; nil for NULL.
  static func text(_ value: Value) -> String? {
    switch value {
    case .null: nil
    // Read as a boolean, and as a number where the column is one.
    case .boolean(let boolean): boolean ? "1" : "0"
    case .integer(let integer): String(integer)
    case .real(let real): text(real)
    // There is no room for a zero in PostgreSQL's text: in words of others it is left out.
    case .text(let text): text.utf8.contains(0) ? String(text.unicodeScalars.filter { $0.value != 0 }) : text
    case .bytes(let bytes): "\\x" + bytes.hex
    }
  }

  private static func text(_ real: Double) -> String {
    if real.isNaN { return "NaN" }
    if real.isInfinite { return real < 0 ? "-Infinity" : "Infinity" }
    // A whole number without its ".0", which columns of integers would not take.
    if let whole = Int64(exactly: real), real != 0 || real.sign == .plus { return String(whole) }
    return real.description
  }

  /// An array's text: `{1,2,NULL}`, `{"a\"b"}`. https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO
  static func array(_ values: some Collection<Value>) -> Value {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(values.count * 16)
    bytes.append(UInt8(ascii: "{"))
    var isFirst = true
    for value in values {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      switch value {
      case .null: bytes.append(contentsOf: "NULL".utf8)
      case .integer(let integer): bytes.append(contentsOf: String(integer).utf8)
      default: quote((text(value) ?? "").utf8, into: &bytes)
      }
    }
    bytes.append(UInt8(ascii: "}"))
    return .text(String(decoding: bytes, as: UTF8.self))
  }

  private static func quote(_ text: String.UTF8View, into bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Lays the values out in one piece of memory, each ended by a zero byte, as libpq takes them.
  static func withPointers<Result>(
    to values: [Value], _ body: (UnsafeBufferPointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    var bytes: [CChar] = []
    var starts: [Int?] = []
    starts.reserveCapacity(values.count)
    for value in values {
      guard var text = text(value) else {
        starts.append(nil)
        continue
      }
      starts.append(bytes.count)
      text.withUTF8 { utf8 in utf8.withMemoryRebound(to: CChar.self) { bytes.append(contentsOf: $0) } }
      bytes.append(0)
    }
    return bytes.withUnsafeBufferPointer { memory in
      let pointers = starts.map { start in start.flatMap { start in memory.baseAddress.map { $0 + start } } }
      return pointers.withUnsafeBufferPointer(body)
    }
  }
}
