import ZonaiCore

/// What a column's type, as the catalog writes it, means for how it is compared.
enum PostgresColumn {
  /// Types whose values are text and nothing else. Domains are described as what they are made of.
  static func isText(_ column: ColumnDescription) -> Bool {
    ["text", "character varying", "bpchar", "name"].contains(column.type) || isCaseInsensitive(column.type)
  }

  /// `modifier` is the type's in the catalog: the length and four, or -1 when there is none.
  static func capacity(_ type: String, modifier: Int) -> ColumnCapacity? {
    switch type {
    case "character varying", "bpchar": modifier > 4 ? .characters(modifier - 4) : nil
    case "name": .bytes(63)
    default: nil
    }
  }

  static func isInteger(_ column: ColumnDescription) -> Bool {
    ["bigint", "integer", "smallint", "oid"].contains(column.type)
  }

  /// The type that values get which the column is compared with. `name` would cut them after 63
  /// bytes.
  static func comparedType(_ column: ColumnDescription) -> String {
    if isInteger(column) { return "bigint" }
    return column.type == "name" ? "text" : column.type
  }

  /// What a predicate can compare a column of this base type with. `words` are the labels of an
  /// enumeration.
  static func kind(_ type: String, category: String, words: [String]?, isDeterministic: Bool) -> ColumnKind {
    if let words { return .choice(words) }
    if category == "A" { return .array }
    if isCaseInsensitive(type) { return .text(TextRules(.unicodeWithoutZero)) }
    switch type {
    case "smallint": return .integer(least: Int64(Int16.min), greatest: UInt64(Int16.max))
    case "integer": return .integer(least: Int64(Int32.min), greatest: UInt64(Int32.max))
    case "bigint": return .integer()
    case "oid": return .integer(least: 0, greatest: UInt64(UInt32.max))
    case "numeric": return .decimal(nil)
    case "real": return .real(isSingle: true)
    case "double precision": return .real()
    case "boolean": return .boolean
    case "text", "character varying", "bpchar", "name":
      return .text(TextRules(.unicodeWithoutZero, hasLike: isDeterministic))
    case "bytea": return .bytes()
    case "uuid": return .uuid(isOrdered: true)
    case "date": return .date
    case "timestamp with time zone", "timestamp without time zone": return .moment
    case "time without time zone": return .timeOfDay(least: 0, greatest: 24)
    case "json", "jsonb": return .json
    default: return .other
    }
  }

  /// The extension's type, in whatever schema it was made.
  static func isCaseInsensitive(_ type: String) -> Bool { type == "citext" || type.hasSuffix(".citext") }

  /// Types without an operator `=`.
  static func lacksEquality(_ column: ColumnDescription) -> Bool {
    ["json", "xml", "point", "polygon"].contains(column.type)
  }
}
