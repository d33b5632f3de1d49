import ZonaiCore
import ZonaiSQL

extension SQLiteDialect {
  public func hasOwnTable(_ name: StaticString, on connection: SQLiteConnection) throws(StoreError) -> Bool {
    let statement = sql("SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = \(name.description)")
    return try connection.first(statement) { _ throws(StoreError) in true } ?? false
  }

  public func describe(
    _ table: TableName, on connection: SQLiteConnection
  ) throws(StoreError) -> TableDescription {
    let schema = try schema(of: table, connection)
    try requireTable(table, in: schema, connection)
    let indexes = try indexes(of: table.name, in: schema, connection)
    let columns = try columns(of: table.name, in: schema, connection)
    let primaryKey = columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name)
    // The one key that has no index of its own is the row's own number, which is never NULL.
    let isRowNumber = primaryKey.count == 1 && !indexes.contains { $0.isPrimary }
    let uniqueKeys = indexes.filter { !$0.isPrimary && $0.isUsable(columns) }.map(\.columns)
    let keyColumns = Set(primaryKey + uniqueKeys.joined())
    var described: [ColumnDescription] = []
    for column in columns {
      let isKey = column.keyPosition > 0
      let isNullable = column.isNullable && !(isKey && isRowNumber)
      var holdsNull = false
      if isKey, isNullable { holdsNull = try self.holdsNull(column.name, of: table.name, in: schema, connection) }
      described.append(
        ColumnDescription(
          name: column.name, type: column.type, kind: column.kind, isNullable: isNullable,
          isGenerated: column.isGenerated, holdsNull: holdsNull,
          orderProblem: keyColumns.contains(column.name) ? column.orderProblem : nil))
    }
    return TableDescription(
      table: table, columns: described, primaryKey: primaryKey, uniqueKeys: uniqueKeys,
      referencedBy: try references(to: table.name, in: schema, connection))
  }

  private func sql(_ text: SQLText) -> SQLStatement {
    var builder = SQLBuilder(self)
    builder.write(text)
    return builder.statement()
  }

  // MARK: Names

  private func schema(of table: TableName, _ connection: SQLiteConnection) throws(StoreError) -> String {
    guard let wanted = table.schema else { return "main" }
    let statement = sql("SELECT name FROM pragma_database_list ORDER BY seq")
    let known = try connection.all(statement) { row throws(StoreError) in row.text(0) }
    if known.contains(wanted) { return wanted }
    throw StoreError(
      .noSuchTable,
      "there is no schema \(wanted) in this file: "
        + NearbyNames.phrase(for: wanted, among: known) + "; leave the schema out for the file's own tables")
  }

  private func requireTable(
    _ table: TableName, in schema: String, _ connection: SQLiteConnection
  ) throws(StoreError) {
    let statement = sql(
      """
      SELECT name, type FROM \(name: schema).sqlite_master
      WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
      """)
    let known = try connection.all(statement) { row throws(StoreError) in (name: row.text(0), type: row.text(1)) }
    guard let found = known.first(where: { $0.name.utf8.elementsEqual(table.name.utf8) }) else {
      let names = known.map(\.name).filter { !$0.hasPrefix("zonai_") }
      throw StoreError(
        .noSuchTable,
        names.isEmpty
          ? "there is no table \(table), nor any other: is this the application's file?"
          : "there is no table \(table) in this file: " + NearbyNames.phrase(for: table.name, among: names))
    }
    guard found.type == "table" else {
      throw StoreError(.noSuchTable, "\(table) is a view, which cannot be pruned: name the table behind it")
    }
  }

  // MARK: Columns

  private func columns(
    of table: String, in schema: String, _ connection: SQLiteConnection
  ) throws(StoreError) -> [SQLiteColumn] {
    let statement = sql(
      """
      SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(\(table), \(schema)) WHERE hidden <> 1
      ORDER BY cid
      """)
    return try connection.all(statement) { row throws(StoreError) in
      let name = row.text(0)
      return SQLiteColumn(
        name: name, declaredType: row.text(1), isNotNull: row.integer(2) != 0, keyPosition: Int(row.integer(3)),
        isGenerated: row.integer(4) != 0,
        collation: connection.collation(schema: schema, table: table, column: name) ?? "BINARY")
    }
  }

  private func holdsNull(
    _ column: String, of table: String, in schema: String, _ connection: SQLiteConnection
  ) throws(StoreError) -> Bool {
    let statement = sql(
      "SELECT EXISTS (SELECT 1 FROM \(name: schema).\(name: table) WHERE \(name: column) IS NULL)")
    return try connection.first(statement) { row throws(StoreError) in row.integer(0) != 0 } ?? false
  }

  // MARK: Indexes

  private struct Index {
    var isPrimary: Bool
    var columns: [String]
    var collations: [String]
    /// Whether it runs one way for some columns and the other way for others.
    var isMixed: Bool
    /// An index over an expression has columns without a name.
    var isWhole: Bool

    /// Whether ORDER BY over its columns goes by it: its collations are the columns' own.
    func isUsable(_ columns: [SQLiteColumn]) -> Bool {
      guard isWhole, !isMixed else { return false }
      return zip(self.columns, collations).allSatisfy { name, collation in
        columns.first { $0.name == name }?.collation.uppercased() == collation.uppercased()
      }
    }
  }

  /// The unique ones, without a condition.
  private func indexes(
    of table: String, in schema: String, _ connection: SQLiteConnection
  ) throws(StoreError) -> [Index] {
    let statement = sql(
      """
      SELECT name, origin FROM pragma_index_list(\(table), \(schema)) WHERE "unique" = 1 AND partial = 0 ORDER BY seq DESC
      """)
    let found = try connection.all(statement) { row throws(StoreError) in (name: row.text(0), origin: row.text(1)) }
    var indexes: [Index] = []
    for (name, origin) in found {
      let parts = sql(
        "SELECT name, coll, \"desc\" FROM pragma_index_xinfo(\(name), \(schema)) WHERE key = 1 ORDER BY seqno")
      let columns = try connection.all(parts) { row throws(StoreError) in
        (name: row.optionalText(0), collation: row.text(1), isDescending: row.integer(2) != 0)
      }
      indexes.append(
        Index(
          isPrimary: origin == "pk", columns: columns.compactMap(\.name), collations: columns.map(\.collation),
          isMixed: Set(columns.map(\.isDescending)).count > 1, isWhole: columns.allSatisfy { $0.name != nil }))
    }
    return indexes
  }

  private func references(
    to table: String, in schema: String, _ connection: SQLiteConnection
  ) throws(StoreError) -> [String] {
    let statement = sql(
      """
      SELECT DISTINCT m.name, f."from" FROM \(name: schema).sqlite_master AS m
      JOIN pragma_foreign_key_list(m.name, \(schema)) AS f
      WHERE m.type = 'table' AND f."table" = \(table) COLLATE NOCASE ORDER BY m.name, f."from"
      """)
    return try connection.all(statement) { row throws(StoreError) in "\(row.text(0)).\(row.text(1))" }
  }
}

/// One column as SQLite describes it.
struct SQLiteColumn {
  var name: String
  var declaredType: String
  var isNotNull: Bool
  /// Its place in the primary key, from 1; 0 when it is not part of it.
  var keyPosition: Int
  var isGenerated: Bool
  var collation: String

  var isBinary: Bool { collation.uppercased() == "BINARY" }

  /// With its collation, where that is not the usual one.
  var type: String { declaredType + (isBinary ? "" : " COLLATE \(collation)") }

  /// A generated column cannot be set to NULL, or to anything else.
  var isNullable: Bool { !isNotNull && !isGenerated }

  /// By the rules that SQLite itself goes by. https://www.sqlite.org/datatype3.html#determination_of_column_affinity
  var kind: ColumnKind {
    let type = declaredType.uppercased()
    if type == "JSON" || type == "JSONB" { return .json }
    if type.contains("INT") { return .number }
    if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") { return .text() }
    if type.contains("BLOB") { return .bytes() }
    if type.isEmpty || type == "ANY" { return .anything(convertsText: false) }
    if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") { return .number }
    // Kept as text, as seconds, as whatever the application likes.
    if type.contains("DATE") || type.contains("TIME") { return .anything(convertsText: true) }
    let numbers = ["NUMERIC", "DECIMAL", "BOOL", "NUMBER", "YEAR", "BIT", "MONEY"]
    return numbers.contains { type.contains($0) } ? .number : .anything(convertsText: true)
  }

  /// ORDER BY and `>` agree in SQLite under any collation; but two values that a collation holds equal are two keys to us.
  var orderProblem: String? {
    switch collation.uppercased() {
    case "BINARY": nil
    case "NOCASE": "its collation NOCASE ignores case"
    case "RTRIM": "its collation RTRIM ignores blanks at the end"
    default: "its collation \(collation) is known to the application only"
    }
  }

  static func ignoresBlanks(_ column: ColumnDescription) -> Bool { column.type.uppercased().hasSuffix("COLLATE RTRIM") }

  static func ignoresCase(_ column: ColumnDescription) -> Bool { column.type.uppercased().hasSuffix("COLLATE NOCASE") }
}
