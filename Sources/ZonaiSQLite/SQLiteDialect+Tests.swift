import ZonaiCore
import ZonaiJSON
import ZonaiSQL

// A row's value has a type of its own here, whatever its column says, and of two types one is
// always less: an age that is a text would be greater than every number. So a test looks only at
// values of the type that it compares with; for all others it is neither true nor false.

extension SQLiteDialect {
  public func appendTest(_ test: ColumnTest, of column: ColumnDescription, to builder: inout SQLBuilder) {
    switch test {
    case .compare(let comparison, let value):
      builder.whenStored(as: StorageClass(value), column) { builder in
        let isText = if case .text = value { true } else { false }
        builder.folded(isText, column) { $0.plain(column) }
        builder.append(comparison.sql)
        builder.folded(isText, column) { $0.bind(value) }
      }
    case .isIn(let values): appendIsIn(column, values, to: &builder)
    case .like(let pattern): appendLike(column, pattern, to: &builder)
    case .always(let isTrue, let value):
      builder.whenStored(as: StorageClass(value), column) { $0.append(isTrue ? "1" : "0") }
    }
  }

  private func appendIsIn(_ column: ColumnDescription, _ values: [Value], to builder: inout SQLBuilder) {
    let classes = StorageClass.allCases.map { kind in (kind, values.filter { StorageClass($0) == kind }) }
      .filter { !$0.1.isEmpty }
    builder.append("(")
    builder.list(classes, separator: " OR ") { part, builder in
      let (kind, values) = part
      builder.whenStored(as: kind, column) { $0.isIn(column, values) }
    }
    builder.append(")")
  }

  private func appendLike(_ column: ColumnDescription, _ pattern: String, to builder: inout SQLBuilder) {
    builder.whenStored(as: .text, column) { builder in
      // These two see a text as ended by a zero in it.
      builder.append("CASE WHEN instr(")
      builder.identifier(column)
      builder.append(", char(0)) = 0 THEN ")
      guard !pattern.utf8.contains(0) else { return builder.append("0 END") }
      builder.plain(column)
      // LIKE ignores case whatever the collation; GLOB never does.
      if SQLiteColumn.ignoresCase(column) {
        builder.append(" LIKE ")
        builder.bind(.text(pattern))
      } else {
        builder.append(" GLOB ")
        builder.bind(.text(Self.glob(pattern)))
      }
      builder.append(" END")
    }
  }

  private static func glob(_ pattern: String) -> String {
    var glob = ""
    for scalar in pattern.unicodeScalars {
      switch scalar {
      case "%": glob += "*"
      case "_": glob += "?"
      case "*", "?", "[": glob += "[\(scalar)]"
      default: glob.unicodeScalars.append(scalar)
      }
    }
    return glob
  }
}

/// How SQLite keeps a value. https://www.sqlite.org/datatype3.html#storage_classes_and_datatypes
private enum StorageClass: CaseIterable {
  case number, text, blob

  init(_ value: Value) {
    switch value {
    case .null, .boolean, .integer, .real: self = .number
    case .text: self = .text
    case .bytes: self = .blob
    }
  }

  var condition: StaticString {
    switch self {
    case .number: " IN ('integer', 'real')"
    case .text: " = 'text'"
    case .blob: " = 'blob'"
    }
  }
}

extension SQLBuilder {
  /// NULL for rows whose value is of another class.
  fileprivate mutating func whenStored(
    as kind: StorageClass, _ column: ColumnDescription, _ test: (inout SQLBuilder) -> Void
  ) {
    append("CASE WHEN typeof(")
    identifier(column)
    append(")")
    append(kind.condition)
    append(" THEN ")
    test(&self)
    append(" END")
  }

  /// The column without its affinity, which would make a number of a text that looks like one, and
  /// with its collation.
  /// https://www.sqlite.org/datatype3.html#affinity_of_expressions
  fileprivate mutating func plain(_ column: ColumnDescription) {
    append("+")
    identifier(column)
  }

  /// The values are of one class. What JSON carries exactly goes as one value.
  fileprivate mutating func isIn(_ column: ColumnDescription, _ values: [Value]) {
    var carried: [JSON] = []
    var others: [Value] = []
    var isBlob = false
    for value in values {
      switch value {
      case .integer(let integer): carried.append(.integer(integer))
      // SQLite ends a text of JSON at a zero.
      case .text(let text) where !text.utf8.contains(0): carried.append(.string(text))
      case .bytes(let bytes):
        isBlob = true
        // JSON has no bytes, and SQLite's hex() writes upper case.
        carried.append(.string(bytes.hex.uppercased()))
      // SQLite does not read every fraction as the nearest number.
      case .real, .text, .null, .boolean: others.append(value)
      }
    }
    let isText = if case .text = values.first { true } else { false }
    append("(")
    if !carried.isEmpty {
      append(isBlob ? "hex(" : "(")
      folded(isText, column) { $0.plain(column) }
      append(") IN (SELECT ")
      folded(isText, column) { $0.append("value") }
      append(" FROM json_each(")
      bind(.text(JSON.array(carried).text))
      append("))")
    }
    if !others.isEmpty {
      append(carried.isEmpty ? "" : " OR ")
      folded(isText, column) { $0.plain(column) }
      append(" IN (")
      list(others) { value, builder in builder.folded(isText, column) { $0.bind(value) } }
      append(")")
    }
    append(")")
  }

  /// Text as its collation sees it. NOCASE by itself ends at a zero in the text, and of values that
  /// RTRIM holds equal SQLite makes an index that it then calls damaged.
  fileprivate mutating func folded(
    _ isText: Bool, _ column: ColumnDescription, _ value: (inout SQLBuilder) -> Void
  ) {
    let ignores = (case: SQLiteColumn.ignoresCase(column), blanks: SQLiteColumn.ignoresBlanks(column))
    guard isText, ignores.case || ignores.blanks else { return value(&self) }
    append(ignores.case ? "lower(" : "rtrim(")
    value(&self)
    append(")")
  }
}
