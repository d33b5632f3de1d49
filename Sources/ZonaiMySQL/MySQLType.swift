import ZonaiCore
import ZonaiSQL

/// What a column's type means for comparing and ordering, read from its words in a description.
struct MySQLType: Sendable, Hashable {
  enum Family: Sendable, Hashable {
    /// Fits 64 bits with a sign.
    case integer
    /// Compared with a number of two digits, it is taken for one of this century or the last.
    case year
    /// BIGINT UNSIGNED.
    case unsigned
    case decimal(scale: Int)
    case real
    case bit
    case text(charset: String, collation: String)
    case bytes
    /// BINARY(n): filled up with zeros, which its comparisons take for part of the value.
    case filledBytes
    /// MariaDB's own type.
    case uuid
    case date
    case moment
    case timeOfDay
    /// ENUM: a word, kept as its number.
    case choice
    /// SET, JSON, places and what else there may be.
    case other
  }

  let family: Family
  /// Whether its length is in characters: CHAR and VARCHAR.
  private let isOfCharacters: Bool

  /// `words` is the type as the information schema has it, for text with `CHARACTER SET … COLLATE …` behind it.
  init(_ words: String) {
    let lower = words.lowercased()
    let parts = lower.split(separator: " ")
    let name = lower.prefix { $0.isLetter || $0.isNumber }
    func behind(_ word: String) -> String {
      guard let index = parts.firstIndex(of: word[...]), index + 1 < parts.count else { return "" }
      return String(parts[index + 1])
    }
    isOfCharacters = name == "char" || name == "varchar"
    switch name {
    case "tinyint", "smallint", "mediumint", "int", "integer": family = .integer
    case "year": family = .year
    case "bigint": family = parts.contains("unsigned") ? .unsigned : .integer
    case "decimal", "numeric":
      let digits = lower.drop { $0 != "," }.dropFirst().prefix { $0.isNumber }
      family = .decimal(scale: Int(digits) ?? 0)
    case "float", "double", "real": family = .real
    case "bit": family = .bit
    case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
      family = .text(charset: behind("set"), collation: behind("collate"))
    case "binary": family = .filledBytes
    case "varbinary", "tinyblob", "blob", "mediumblob", "longblob": family = .bytes
    case "uuid": family = .uuid
    case "date": family = .date
    case "datetime", "timestamp": family = .moment
    case "time": family = .timeOfDay
    case "enum": family = .choice
    default: family = .other
    }
  }

  init(_ column: ColumnDescription) { self.init(column.type) }

  /// What the information schema says that a column of this type holds; for TEXT that is bytes
  /// alone.
  func capacity(characters: Int64?, bytes: Int64?) -> ColumnCapacity? {
    switch family {
    case .text where isOfCharacters: characters.map { .characters(Int(clamping: $0)) }
    case .text, .bytes, .filledBytes: bytes.map { .bytes(Int(clamping: $0)) }
    default: nil
    }
  }

  /// Why pages cannot go by such a column.
  func orderProblem(_ words: String) -> String? {
    switch family {
    case .integer, .year, .unsigned, .decimal, .real, .text, .bytes, .filledBytes, .uuid, .date, .moment, .timeOfDay:
      nil
    case .bit: "its type is BIT"
    case .choice, .other:
      switch words.lowercased().prefix(while: { $0.isLetter }) {
      case "enum", "set":
        "its values are ordered by their numbers in the type \(words), and compared as the words that they stand for"
      default: "Zonai does not know how values of the type \(words) are ordered"
      }
    }
  }

  /// The end of a cast to a decimal with as many digits behind the point: no more than the column's, since a cast has 65 in
  /// all.
  static let decimals: [StaticString] = [
    " AS DECIMAL(65,0))", " AS DECIMAL(65,1))", " AS DECIMAL(65,2))", " AS DECIMAL(65,3))", " AS DECIMAL(65,4))",
    " AS DECIMAL(65,5))", " AS DECIMAL(65,6))", " AS DECIMAL(65,7))", " AS DECIMAL(65,8))", " AS DECIMAL(65,9))",
    " AS DECIMAL(65,10))", " AS DECIMAL(65,11))", " AS DECIMAL(65,12))", " AS DECIMAL(65,13))",
    " AS DECIMAL(65,14))", " AS DECIMAL(65,15))", " AS DECIMAL(65,16))", " AS DECIMAL(65,17))",
    " AS DECIMAL(65,18))", " AS DECIMAL(65,19))", " AS DECIMAL(65,20))", " AS DECIMAL(65,21))",
    " AS DECIMAL(65,22))", " AS DECIMAL(65,23))", " AS DECIMAL(65,24))", " AS DECIMAL(65,25))",
    " AS DECIMAL(65,26))", " AS DECIMAL(65,27))", " AS DECIMAL(65,28))", " AS DECIMAL(65,29))",
    " AS DECIMAL(65,30))", " AS DECIMAL(65,31))", " AS DECIMAL(65,32))", " AS DECIMAL(65,33))",
    " AS DECIMAL(65,34))", " AS DECIMAL(65,35))", " AS DECIMAL(65,36))", " AS DECIMAL(65,37))",
    " AS DECIMAL(65,38))",
  ]

  static func decimal(_ scale: Int) -> StaticString { decimals[min(max(scale, 0), decimals.count - 1)] }
}
