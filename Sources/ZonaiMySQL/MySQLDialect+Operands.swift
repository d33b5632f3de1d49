import ZonaiCore
import ZonaiJSON
import ZonaiSQL

// Compared with a column of another type, a value turns into an inexact number, into 0 or into a
// moment of zeros, with nothing but a warning. So each value gets the column's type first, and it
// can be given that type without loss, which `ColumnTest` has seen to.

extension MySQLDialect {
  public func appendTest(_ test: ColumnTest, of column: ColumnDescription, to builder: inout SQLBuilder) {
    switch test {
    case .compare(let comparison, let value):
      builder.compared(column)
      builder.append(comparison.sql)
      builder.operand(value, for: column)
    case .isIn(let values): appendIsIn(column, values, to: &builder)
    case .like(let pattern):
      builder.compared(column)
      builder.append(" LIKE ")
      // Without an escape character, MariaDB goes on taking the backslash for one.
      let doubled = pattern.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "||")
      builder.operand(.text(doubled), for: column)
      builder.append(" ESCAPE '|'")
    case .always(let isTrue, _):
      builder.append("(")
      builder.identifier(column)
      builder.append(isTrue ? " IS NOT NULL OR NULL)" : " IS NULL AND NULL)")
    }
  }

  private func appendIsIn(_ column: ColumnDescription, _ values: [Value], to builder: inout SQLBuilder) {
    let type = MySQLType(column)
    let elements = values.compactMap { type.stored($0, inList: true) }
    builder.compared(column)
    builder.append(" IN (SELECT zonai_k0 FROM (SELECT ")
    builder.stored("zonai_v.zonai_j", as: type)
    builder.append(" AS zonai_k0 FROM ")
    builder.table(of: elements)
    builder.append("zonai_j ")
    builder.append(type.storedType(elements[...]))
    builder.append(" PATH '$')) AS zonai_v) AS zonai_l WHERE zonai_k0 IS NOT NULL)")
  }
}

extension SQLBuilder {
  /// The column as it is compared: a year as a number, of which 70 is not 1970, and one of many
  /// words as a word.
  fileprivate mutating func compared(_ column: ColumnDescription) {
    switch MySQLType(column).family {
    case .year, .bit:
      append("(")
      identifier(column)
      append(" + 0)")
    case .choice:
      append("CONVERT(")
      identifier(column)
      append(" USING utf8mb4) COLLATE utf8mb4_bin")
    default: identifier(column)
    }
  }

  /// The value, in the column's own type.
  fileprivate mutating func operand(_ value: Value, for column: ColumnDescription) {
    func cast(_ end: StaticString) {
      append("CAST(")
      bind(value)
      append(end)
    }
    switch (MySQLType(column).family, value) {
    // More than 63 bits are their digits.
    case (.unsigned, .text), (.bit, .text): cast(" AS UNSIGNED)")
    case (.decimal(let scale), _): cast(MySQLType.decimal(scale))
    case (.uuid, _): cast(" AS UUID)")
    case (.date, _): cast(" AS DATE)")
    case (.moment, _): cast(" AS DATETIME(6))")
    case (.timeOfDay, _): cast(" AS TIME(6))")
    case (.text(let charset, let collation), _):
      append("CONVERT(")
      bind(value)
      append(" USING ")
      identifier(charset.isEmpty ? "utf8mb4" : charset)
      append(")")
      guard !collation.isEmpty else { return }
      append(" COLLATE ")
      identifier(collation)
    default: bind(value)
    }
  }
}

extension MySQLType {
  /// The value as an element of the JSON that carries many of them: whole numbers as they are, everything else as
  /// hexadecimal bytes. nil when the column cannot hold it.
  func stored(_ value: Value, inList: Bool = false) -> JSON? {
    switch (family, value) {
    case (.year, _): return MySQLType.integer.stored(value, inList: inList)
    case (_, .null): return inList ? nil : .null
    case (.integer, .integer(let number)): return .integer(number)
    case (.integer, .real(let number)): return Int64(exactly: number).map { .integer($0) }
    case (.integer, _): return nil
    case (.unsigned, .integer(let number)) where number < 0: return nil
    case (_, .integer(let number)): return .string(Array(String(number).utf8).hex)
    case (_, .real(let number)): return .string(Array("\(number)".utf8).hex)
    case (_, .text(let text)): return .string(Array(text.utf8).hex)
    case (_, .bytes(let bytes)): return .string(bytes.hex)
    case (_, .boolean(let boolean)): return .string(Array((boolean ? "1" : "0").utf8).hex)
    }
  }

  /// The type that elements have in the table that the server makes of them. Long ones cost more.
  func storedType(_ elements: some Sequence<JSON>) -> StaticString {
    if family == .integer || family == .year { return "BIGINT" }
    for case .string(let hex) in elements where hex.utf8.count > 512 { return "LONGTEXT" }
    return "VARCHAR(512) CHARACTER SET ascii"
  }
}

extension SQLBuilder {
  /// The beginning of a table that the server makes of one value.
  mutating func table(of elements: [JSON]) {
    // Joined to nothing, the value is a text to both servers, in which MySQL looks for JSON.
    append("JSON_TABLE(CONCAT(")
    bind(.text(JSON.array(elements).text))
    append(", ''), '$[*]' COLUMNS (")
  }

  /// An element of the JSON as the column's own type and collation: explicitly its own, or the server would not know whose
  /// collation to go by.
  mutating func stored(_ element: StaticString, as type: MySQLType) {
    func text() {
      append("CONVERT(UNHEX(")
      append(element)
      append(") USING utf8mb4)")
    }
    func cast(_ end: StaticString) {
      append("CAST(")
      text()
      append(end)
    }
    switch type.family {
    case .integer, .year: append(element)
    case .unsigned, .bit: cast(" AS UNSIGNED)")
    case .decimal(let scale): cast(MySQLType.decimal(scale))
    case .real:
      append("(")
      text()
      append(" + 0e0)")
    case .bytes, .filledBytes:
      append("UNHEX(")
      append(element)
      append(")")
    case .uuid: cast(" AS UUID)")
    case .date: cast(" AS DATE)")
    case .moment: cast(" AS DATETIME(6))")
    case .timeOfDay: cast(" AS TIME(6))")
    case .choice, .other: text()
    case .text(let charset, let collation):
      if charset == "utf8mb4" || charset.isEmpty {
        text()
      } else {
        append("CONVERT(")
        text()
        append(" USING ")
        identifier(charset)
        append(")")
      }
      guard !collation.isEmpty else { return }
      append(" COLLATE ")
      identifier(collation)
    }
  }
}
