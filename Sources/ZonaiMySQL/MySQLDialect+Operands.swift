import ZonaiCore
import ZonaiJSON
import ZonaiSQL

// Compared with a column of another type, a value turns into an inexact number or into 0, and a predicate such as
// `city = 0` would accept everybody whose city is no number. So values get the column's type first, or are refused.

extension MySQLDialect {
  public func operand(_ value: Value, for column: ColumnDescription) throws(StoreError) -> Value {
    let type = MySQLType(column)
    switch (type.family, value) {
    case (_, .null): return value
    case (_, .boolean(let boolean)): return try operand(.integer(boolean ? 1 : 0), for: column)
    case (.text, .integer(let number)): return .text(String(number))
    case (.text, .real(let number)): return .text("\(number)")
    case (.integer, .text(let text)), (.unsigned, .text(let text)), (.bit, .text(let text)):
      return .integer(try number(text, column, "a whole number") { Int64($0) })
    case (.decimal, .text(let text)):
      _ = try number(text, column, "a number") { Double($0) }
      return value
    case (.real, .text(let text)): return .real(try number(text, column, "a number") { Double($0) })
    case (.date, .text(let text)), (.moment, .text(let text)): return .text(try moment(text, column))
    case (.date, _), (.moment, _), (.timeOfDay, .integer), (.timeOfDay, .real):
      throw unfit(column, "a moment in UTC, such as '2026-01-31 12:00:00'")
    default: return value
    }
  }

  private func number<Number>(
    _ text: String, _ column: ColumnDescription, _ kind: String, _ read: (String) -> Number?
  ) throws(StoreError) -> Number {
    guard let number = read(text.trimmed { $0 == " " }) else { throw unfit(column, kind) }
    return number
  }

  /// `2026-01-31`, with a time behind a blank or a T, and a Z at the end: as the server takes it.
  private func moment(_ text: String, _ column: ColumnDescription) throws(StoreError) -> String {
    var bytes = Array(text.trimmed { $0 == " " }.utf8)
    if bytes.last == UInt8(ascii: "Z") { bytes.removeLast() }
    let shape: [UInt8] = Array("0000-00-00".utf8)
    let isDate =
      bytes.count >= shape.count
      && zip(bytes, shape).allSatisfy { $1 == UInt8(ascii: "-") ? $0 == $1 : (0x30...0x39).contains($0) }
    let isTime = bytes.dropFirst(11).allSatisfy { (0x30...0x39).contains($0) || $0 == 0x3a || $0 == 0x2e }
    guard isDate, isTime, bytes.count != 11 else {
      throw unfit(column, "a moment in UTC, such as '2026-01-31 12:00:00'")
    }
    if bytes.count > 11 {
      guard bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " ") else {
        throw unfit(column, "a moment in UTC, such as '2026-01-31 12:00:00'")
      }
      bytes[10] = UInt8(ascii: " ")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func unfit(_ column: ColumnDescription, _ kind: String) -> StoreError {
    StoreError(
      .invalidPredicate,
      "the predicate compares \(column.name), which is \(column.type), with something else: give it \(kind)"
    )
  }

  // MARK: Lists

  public func appendIsIn(_ column: ColumnDescription, _ values: [Value], to builder: inout SQLBuilder) {
    let type = MySQLType(column)
    let fits = values.compactMap { type.stored($0, inList: true) }
    builder.identifier(column)
    builder.append(" IN (SELECT zonai_k0 FROM (SELECT zonai_v.zonai_j, ")
    builder.stored("zonai_v.zonai_j", as: type)
    builder.append(" AS zonai_k0 FROM ")
    builder.table(of: fits)
    builder.append("zonai_j ")
    builder.append(type.storedType(fits[...]))
    builder.append(" PATH '$')) AS zonai_v) AS zonai_l WHERE zonai_k0 IS NOT NULL")
    if case .text(let charset, _) = type.family, charset != "utf8mb4" {
      // What the column's character set lacks became a question mark.
      builder.append(" AND CAST(CONVERT(zonai_k0 USING utf8mb4) AS BINARY) = UNHEX(zonai_j)")
    }
    builder.append(")")
  }
}

extension MySQLType {
  /// The value as an element of the JSON that carries many of them: whole numbers as they are, everything else as
  /// hexadecimal bytes. nil when the column cannot hold it.
  func stored(_ value: Value, inList: Bool = false) -> JSON? {
    switch (family, value) {
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
    if family == .integer { return "BIGINT" }
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
    case .integer: append(element)
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
    case .other: text()
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
