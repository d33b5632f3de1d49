/// Cuts a condition into its words, over bytes: a hundred thousand values are read in one pass.
struct PredicateScanner {
  private let text: String
  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  func fault(_ sentence: String, at offset: Int) -> PredicateFault { PredicateFault(sentence, in: text, at: offset) }

  mutating func next() throws(PredicateFault) -> PredicateToken {
    while let byte = peek(), [0x20, 0x09, 0x0a, 0x0d].contains(byte) { position += 1 }
    let start = position
    return PredicateToken(kind: try kind(), offset: start)
  }

  private mutating func kind() throws(PredicateFault) -> PredicateToken.Kind {
    guard let byte = peek() else { return .end }
    switch byte {
    case UInt8(ascii: "("): return single(.open)
    case UInt8(ascii: ")"): return single(.close)
    case UInt8(ascii: ","): return single(.comma)
    case UInt8(ascii: "'"): return .text(try quoted())
    case UInt8(ascii: "\""): return .quotedName(try quoted())
    case UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "!"): return try comparison()
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
      return try number()
    case UInt8(ascii: "x"), UInt8(ascii: "X"):
      if peek(1) == UInt8(ascii: "'") { return try blob() }
      return try word()
    default:
      return try word()
    }
  }

  private func peek(_ ahead: Int = 0) -> UInt8? {
    position + ahead < bytes.count ? bytes[position + ahead] : nil
  }

  private mutating func single(_ kind: PredicateToken.Kind) -> PredicateToken.Kind {
    position += 1
    return kind
  }

  private mutating func comparison() throws(PredicateFault) -> PredicateToken.Kind {
    let start = position
    while let byte = peek(), [0x3d, 0x3c, 0x3e, 0x21].contains(byte) { position += 1 }
    switch String(decoding: bytes[start..<position], as: UTF8.self) {
    case "=", "==": return .comparison(.equal)
    case "<>", "!=": return .comparison(.notEqual)
    case "<": return .comparison(.less)
    case "<=": return .comparison(.lessOrEqual)
    case ">": return .comparison(.greater)
    case ">=": return .comparison(.greaterOrEqual)
    default: throw fault("This is no comparison: use one of = <> < <= > >=.", at: start)
    }
  }

  /// What stands between two quotes of the kind that stands here; a doubled quote is one of the text.
  private mutating func quoted() throws(PredicateFault) -> String {
    let start = position
    let quote = bytes[position]
    position += 1
    var content: [UInt8] = []
    while let byte = peek() {
      position += 1
      if byte != quote {
        content.append(byte)
      } else if peek() == quote {
        content.append(byte)
        position += 1
      } else {
        return String(decoding: content, as: UTF8.self)
      }
    }
    throw fault("The quote that opens here is never closed: add \(quote == 0x27 ? "'" : "\"").", at: start)
  }

  private mutating func blob() throws(PredicateFault) -> PredicateToken.Kind {
    let start = position
    position += 1
    guard let bytes = [UInt8](hex: try quoted()) else {
      throw fault("x'…' holds pairs of hexadecimal digits, such as x'00ff'.", at: start)
    }
    return .bytes(bytes)
  }

  private mutating func number() throws(PredicateFault) -> PredicateToken.Kind {
    let start = position
    while let byte = peek(), isNumberByte(byte, after: start) { position += 1 }
    let digits = String(decoding: bytes[start..<position], as: UTF8.self)
    let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
    let unsigned = digits.utf8.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
    if !unsigned.isEmpty, unsigned.allSatisfy(isDigit) {
      guard let integer = Int64(digits) else {
        throw fault("This number is too large for 64 bits: write it in single quotes.", at: start)
      }
      return .integer(integer)
    }
    guard digits.utf8.allSatisfy({ $0 < 0x67 && $0 != 0x78 }), let real = Double(digits), !real.isNaN else {
      throw fault("This is no number: text stands in single quotes.", at: start)
    }
    guard real.isInfinite || ExactDecimal(digits) == ExactDecimal(real) else {
      throw fault("This number has more digits than can be kept: write it in single quotes.", at: start)
    }
    return .real(real)
  }

  private func isNumberByte(_ byte: UInt8, after start: Int) -> Bool {
    switch byte {
    case UInt8(ascii: "-"), UInt8(ascii: "+"):
      position == start || (bytes[position - 1] | 0x20) == UInt8(ascii: "e")
    case UInt8(ascii: "."): true
    default: PredicateScanner.isNamePart(byte)
    }
  }

  private mutating func word() throws(PredicateFault) -> PredicateToken.Kind {
    let start = position
    while let byte = peek(), PredicateScanner.isNamePart(byte) { position += 1 }
    let word = String(decoding: bytes[start..<position], as: UTF8.self)
    if word.isEmpty { throw strange(at: start) }
    if let quote = word.unicodeScalars.first(where: { "‘’“”".unicodeScalars.contains($0) }) {
      throw fault("\(quote) is a typographic quote: text stands in straight single quotes, '…'.", at: start)
    }
    if peek() == UInt8(ascii: ".") {
      throw fault(
        "A column is named alone, without its table: a name that holds a dot stands in double quotes.", at: start)
    }
    let lowercased = word.lowercased()
    return PredicateToken.keywords.contains(lowercased) ? .keyword(lowercased) : .name(word)
  }

  private func strange(at start: Int) -> PredicateFault {
    switch bytes[start] {
    case UInt8(ascii: ";"): fault("A condition ends without a semicolon: leave it out.", at: start)
    case UInt8(ascii: "?"), UInt8(ascii: "$"), UInt8(ascii: ":"), UInt8(ascii: "@"):
      fault("There are no parameters here: write the value itself, text in single quotes.", at: start)
    case UInt8(ascii: "`"), UInt8(ascii: "["):
      fault("A column name that needs quotes stands in double quotes, \"…\".", at: start)
    default: fault("This character has no meaning here.", at: start)
    }
  }

  static func isNameStart(_ byte: UInt8) -> Bool {
    (0x61...0x7a).contains(byte | 0x20) || byte == UInt8(ascii: "_") || byte >= 0x80
  }

  static func isNamePart(_ byte: UInt8) -> Bool {
    isNameStart(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "$")
  }
}
