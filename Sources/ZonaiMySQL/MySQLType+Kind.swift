import ZonaiCore

extension MySQLType {
  /// What a predicate can compare a column with. `words` is the type as the information schema has
  /// it; `full` has the character set and collation behind it.
  static func kind(_ words: String, full: String) -> ColumnKind {
    let lower = words.lowercased()
    let isUnsigned = lower.contains("unsigned")
    let sizes = lower.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }.split(separator: ",").compactMap { Int($0) }
    switch MySQLType(full).family {
    case .integer, .unsigned: return integer(bits: bits(of: lower), isUnsigned: isUnsigned)
    case .year: return .integer(least: 0, greatest: 2155)
    case .bit:
      let bits = sizes.first ?? 1
      return .integer(least: 0, greatest: bits >= 64 ? .max : (1 << UInt64(bits)) - 1)
    case .decimal:
      return .decimal(DecimalLimits(precision: sizes.first ?? 10, scale: sizes.count > 1 ? sizes[1] : 0))
    case .real: return .real(isSingle: lower.hasPrefix("float"))
    case .text(let charset, _): return .text(TextRules(repertoire(of: charset)))
    case .bytes: return .bytes()
    case .filledBytes: return .bytes(width: sizes.first ?? 1)
    // MariaDB sorts them by their parts, the last one first.
    case .uuid: return .uuid(isOrdered: false)
    case .date: return .date
    case .moment: return .moment
    case .timeOfDay: return .timeOfDay(least: -838, greatest: 838)
    case .choice: return .choice(labels(of: words))
    case .other: return lower == "json" ? .json : .other
    }
  }

  private static func integer(bits: UInt64, isUnsigned: Bool) -> ColumnKind {
    if isUnsigned { return .integer(least: 0, greatest: .max >> (64 - bits)) }
    return .integer(least: .min >> Int64(64 - bits), greatest: .max >> (65 - bits))
  }

  private static func bits(of words: String) -> UInt64 {
    switch words.prefix(while: { $0.isLetter }) {
    case "tinyint": 8
    case "smallint": 16
    case "mediumint": 24
    case "int", "integer": 32
    default: 64
    }
  }

  private static func repertoire(of charset: String) -> TextRules.Repertoire {
    switch charset {
    case "utf8mb4", "utf16", "utf16le", "utf32", "": .unicode
    case "utf8mb3", "utf8", "ucs2": .basicPlane
    case "latin1": .windows1252
    case "ascii": .ascii
    default: .common
    }
  }

  /// The words of `enum('a','b''c','d\\e')`: a quote is doubled, and a backslash stands before
  /// what would not be itself.
  private static func labels(of words: String) -> [String] {
    var rest = words.utf8.drop { $0 != UInt8(ascii: "(") }
    var labels: [String] = []
    while let start = rest.firstIndex(of: UInt8(ascii: "'")) {
      rest = rest[rest.index(after: start)...]
      var label: [UInt8] = []
      while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "\\"), let hidden = rest.popFirst() {
          label.append(unescaped(hidden))
        } else if byte != UInt8(ascii: "'") {
          label.append(byte)
        } else if rest.first == byte {
          label.append(byte)
          rest.removeFirst()
        } else {
          break
        }
      }
      labels.append(String(decoding: label, as: UTF8.self))
    }
    return labels
  }

  private static func unescaped(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "0"): 0
    case UInt8(ascii: "n"): 0x0a
    case UInt8(ascii: "r"): 0x0d
    default: byte
    }
  }
}
