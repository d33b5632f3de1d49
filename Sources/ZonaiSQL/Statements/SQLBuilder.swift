import ZonaiCore

/// Puts a statement together: text from literals, identifiers quoted, values bound.
public struct SQLBuilder {
  public let dialect: any SQLDialect
  /// In UTF-8: literals are copied as they are.
  private var text: [UInt8] = []
  private var values: [Value] = []

  public init(_ dialect: any SQLDialect) {
    self.dialect = dialect
    text.reserveCapacity(512)
  }

  /// Appends words that stand in the code.
  public mutating func append(_ literal: StaticString) {
    literal.withUTF8Buffer { text.append(contentsOf: $0) }
  }

  /// Appends a name that was found in the schema.
  public mutating func identifier(_ name: String) { text.append(contentsOf: dialect.quoted(name).utf8) }

  public mutating func identifier(_ column: ColumnDescription) { identifier(column.name) }

  public mutating func identifier(_ table: TableName) {
    if let schema = table.schema {
      identifier(schema)
      append(".")
    }
    identifier(table.name)
  }

  /// Appends a placeholder and binds the value to it. `column` is what it is compared with or stored in.
  public mutating func bind(_ value: Value, for column: ColumnDescription? = nil) {
    let bound: (value: Value, type: String?) = column.map { dialect.bound(value, for: $0) } ?? (value, nil)
    values.append(bound.value)
    text.append(contentsOf: dialect.placeholder(values.count, type: bound.type).utf8)
  }

  /// Appends a condition that was rendered before. It must be the first to bind values, since they are counted.
  public mutating func append(_ fragment: SQLFragment) {
    precondition(values.isEmpty || fragment.values.isEmpty, "a rendered condition comes before every other value")
    text.append(contentsOf: fragment.text.utf8)
    values += fragment.values
  }

  /// Appends a statement, or a part of one, as it is written in code.
  public mutating func write(_ statement: SQLText) {
    for piece in statement.pieces {
      switch piece {
      case .text(let literal): text.append(contentsOf: literal.utf8)
      case .value(let value, let type):
        values.append(value)
        text.append(contentsOf: dialect.placeholder(values.count, type: type).utf8)
      case .name(let name): identifier(name)
      case .words(let words): append(words)
      }
    }
  }

  /// Appends each element's part, with a separator between them.
  @inlinable public mutating func list<Element>(
    _ elements: [Element], separator: StaticString = ", ", _ each: (Element, inout SQLBuilder) -> Void
  ) {
    for (index, element) in elements.enumerated() {
      if index > 0 { append(separator) }
      each(element, &self)
    }
  }

  public func statement(isReused: Bool = true) -> SQLStatement {
    SQLStatement(text: String(decoding: text, as: UTF8.self), values: values, isReused: isReused)
  }

  var fragment: SQLFragment { SQLFragment(text: String(decoding: text, as: UTF8.self), values: values) }
}
