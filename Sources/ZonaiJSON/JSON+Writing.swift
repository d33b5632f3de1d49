extension JSON {
  /// The value as UTF-8, on one line, members sorted by name so that equal values give equal bytes. Slashes are not
  /// escaped. A number that JSON cannot hold (infinite, not a number) is written as `null`.
  public var bytes: [UInt8] {
    var output: [UInt8] = []
    write(to: &output)
    return output
  }

  /// The value as text, like `bytes`.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The value as text over several lines, two spaces to a level, for files that people read.
  public var prettyText: String {
    var output: [UInt8] = []
    write(to: &output, indentation: 0)
    return String(decoding: output, as: UTF8.self)
  }

  /// Appends the value to bytes that are being put together.
  public func write(to output: inout [UInt8]) { write(to: &output, indentation: nil) }

  private func write(to output: inout [UInt8], indentation: Int?) {
    switch self {
    case .null: output.append(contentsOf: "null".utf8)
    case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): output.append(contentsOf: String(value).utf8)
    case .number(let value): output.append(contentsOf: (value.isFinite ? "\(value)" : "null").utf8)
    case .string(let value): Self.quote(value.utf8, into: &output)
    case .array(let elements):
      Self.writeList(elements, "[", "]", indentation, &output) { element, level, output in
        element.write(to: &output, indentation: level)
      }
    case .object(let members):
      let sorted = members.sorted { $0.key < $1.key }
      Self.writeList(sorted, "{", "}", indentation, &output) { member, level, output in
        Self.quote(member.key.utf8, into: &output)
        output.append(contentsOf: (level == nil ? ":" : ": ").utf8)
        member.value.write(to: &output, indentation: level)
      }
    }
  }

  private static func writeList<Element>(
    _ elements: [Element], _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ indentation: Int?,
    _ output: inout [UInt8], _ writeElement: (Element, Int?, inout [UInt8]) -> Void
  ) {
    let level = indentation.map { $0 + 1 }
    func newLine(_ level: Int?) {
      guard let level, !elements.isEmpty else { return }
      output.append(UInt8(ascii: "\n"))
      output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: level * 2))
    }
    output.append(UInt8(ascii: open))
    for (index, element) in elements.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      newLine(level)
      writeElement(element, level, &output)
    }
    newLine(indentation)
    output.append(UInt8(ascii: close))
  }
}

extension JSON {
  /// The UTF-8 as the inside of a JSON string, without the quotes around it: for a hole in a body that was rendered once.
  /// Bytes beyond ASCII pass as they are, so what goes in must be UTF-8.
  public static func escape(_ utf8: some Sequence<UInt8>) -> [UInt8] {
    var output: [UInt8] = []
    escape(utf8, into: &output)
    return output
  }

  /// Appends the inside of a JSON string to bytes that are being put together; see `escape(_:)`.
  public static func escape(_ utf8: some Sequence<UInt8>, into output: inout [UInt8]) {
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(contentsOf: [UInt8(ascii: "\\"), byte])
      case 0x0A: output.append(contentsOf: "\\n".utf8)
      case 0x0D: output.append(contentsOf: "\\r".utf8)
      case 0x09: output.append(contentsOf: "\\t".utf8)
      case ..<0x20:
        output.append(contentsOf: "\\u00".utf8)
        output.append(contentsOf: [hex[Int(byte >> 4)], hex[Int(byte & 15)]])
      default: output.append(byte)
      }
    }
  }

  /// Appends a JSON string with its quotes.
  public static func quote(_ utf8: some Sequence<UInt8>, into output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    escape(utf8, into: &output)
    output.append(UInt8(ascii: "\""))
  }

  private static let hex = Array("0123456789abcdef".utf8)
}
