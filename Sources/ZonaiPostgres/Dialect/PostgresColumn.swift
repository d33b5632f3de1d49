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

  /// The type of the values in a list that the column is looked for in.
  static func listType(_ column: ColumnDescription) -> String { isInteger(column) ? "bigint" : column.type }

  /// The extension's type, in whatever schema it was made.
  static func isCaseInsensitive(_ type: String) -> Bool { type == "citext" || type.hasSuffix(".citext") }

  /// Types without an operator `=`.
  static func lacksEquality(_ column: ColumnDescription) -> Bool {
    ["json", "xml", "point", "polygon"].contains(column.type)
  }
}
