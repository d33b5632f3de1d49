import ZonaiCore
import ZonaiSQL

extension MySQLDialect {
  public func hasOwnTable(_ name: StaticString, on connection: MySQLConnection) throws(StoreError) -> Bool {
    // Tried rather than looked up: the information schema does not show what this user may not use.
    var builder = SQLBuilder(self)
    builder.append("SELECT 1 FROM ")
    builder.append(name)
    builder.append(" LIMIT 0")
    do throws(StoreError) {
      try connection.run(builder.statement())
      return true
    } catch {
      guard error.code == .noSuchTable else { throw error }
      return false
    }
  }

  public func describe(
    _ table: TableName, on connection: MySQLConnection
  ) throws(StoreError) -> TableDescription {
    let schema = try schema(of: table, connection)
    try requireTable(table, in: schema, connection)
    let indexes = try indexes(of: table.name, in: schema, connection)
    let keys = Set(indexes.flatMap(\.columns))
    let documents = try documents(in: table.name, of: schema, connection)
    var columns: [ColumnDescription] = []
    let statement = sql(
      """
      SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, CHARACTER_SET_NAME, COLLATION_NAME,
      COALESCE(GENERATION_EXPRESSION, '') <> '', CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH FROM information_schema.COLUMNS
      WHERE TABLE_SCHEMA = \(schema) AND TABLE_NAME = \(table.name) ORDER BY ORDINAL_POSITION
      """)
    try connection.run(statement) { row throws(StoreError) in
      let name = row.text(0)
      var type = row.text(1)
      if let charset = row.optionalText(3), let collation = row.optionalText(4) {
        type += " CHARACTER SET \(charset) COLLATE \(collation)"
      }
      columns.append(
        ColumnDescription(
          name: name, type: type, kind: documents.contains(name) ? .json : MySQLType.kind(row.text(1), full: type),
          // A generated column cannot be set to NULL, or to anything else.
          isNullable: row.text(2) == "YES" && row.integer(5) == 0, isGenerated: row.integer(5) != 0,
          orderProblem: keys.contains(name) ? MySQLType(type).orderProblem(row.text(1)) : nil,
          capacity: MySQLType(type).capacity(characters: row.optionalInteger(6), bytes: row.optionalInteger(7))))
    }
    return TableDescription(
      table: table, columns: columns, primaryKey: indexes.first { $0.isPrimary }?.columns ?? [],
      uniqueKeys: indexes.filter { !$0.isPrimary }.map(\.columns),
      referencedBy: try references(to: table.name, in: schema, connection),
      indexNames: Dictionary(indexes.map { ($0.columns, $0.name) }) { first, _ in first })
  }

  private func sql(_ text: SQLText) -> SQLStatement {
    var builder = SQLBuilder(self)
    builder.write(text)
    return builder.statement()
  }

  /// MariaDB's JSON is a text with a check of its own.
  private func documents(
    in table: String, of schema: String, _ connection: MySQLConnection
  ) throws(StoreError) -> Set<String> {
    guard connection.server.isMariaDB else { return [] }
    let statement = sql(
      """
      SELECT CONSTRAINT_NAME FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = \(schema)
      AND TABLE_NAME = \(table) AND LEVEL = 'Column' AND CHECK_CLAUSE LIKE 'json_valid(%'
      """)
    return Set(try connection.all(statement) { row throws(StoreError) in row.text(0) })
  }

  // MARK: Names

  private func schema(of table: TableName, _ connection: MySQLConnection) throws(StoreError) -> String {
    guard let wanted = table.schema else {
      return try connection.first(sql("SELECT DATABASE()")) { row throws(StoreError) in row.text(0) } ?? ""
    }
    let statement = sql("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY SCHEMA_NAME")
    let known = try connection.all(statement) { row throws(StoreError) in row.text(0) }
    if known.contains(where: { $0.utf8.elementsEqual(wanted.utf8) }) { return wanted }
    throw StoreError(
      .noSuchTable,
      "there is no database \(wanted) that this user may see: " + NearbyNames.phrase(for: wanted, among: known))
  }

  private func requireTable(
    _ table: TableName, in schema: String, _ connection: MySQLConnection
  ) throws(StoreError) {
    let statement = sql(
      """
      SELECT TABLE_NAME, TABLE_TYPE, COALESCE(t.ENGINE, ''), COALESCE(e.TRANSACTIONS, '') FROM information_schema.TABLES AS t
      LEFT JOIN information_schema.ENGINES AS e ON e.ENGINE = t.ENGINE WHERE TABLE_SCHEMA = \(schema)
      """)
    let known = try connection.all(statement) { row throws(StoreError) in
      (name: row.text(0), type: row.text(1), engine: row.text(2), hasTransactions: row.text(3) == "YES")
    }
    guard let found = known.first(where: { $0.name.utf8.elementsEqual(table.name.utf8) }) else {
      let names = known.map(\.name).filter { !$0.hasPrefix("zonai_") }
      throw StoreError(
        .noSuchTable,
        names.isEmpty
          ? "there is no table \(table) in \(schema) that this user may see, nor any other: is this the application's "
            + "database, and has the user rights on its tables?"
          : "there is no table \(table) in \(schema) that this user may see: "
            + NearbyNames.phrase(for: table.name, among: names))
    }
    guard found.type == "BASE TABLE" || found.type == "SYSTEM VERSIONED" else {
      throw StoreError(.noSuchTable, "\(table) is a view, which cannot be pruned: name the table behind it")
    }
    guard found.hasTransactions else {
      throw StoreError(
        .noUsableKey,
        "\(table) is kept by the engine \(found.engine), which knows no transactions, so that a prune could not be undone: "
          + "move it to InnoDB (ALTER TABLE \(MySQLDialect.quote(table.name)) ENGINE=InnoDB)")
    }
  }

  // MARK: Indexes

  private struct Index {
    var name: String
    var columns: [String] = []
    /// Whether ORDER BY over its columns goes by it: no expressions, no beginnings of texts, one direction for all.
    var isUsable = true
    var direction: String?

    var isPrimary: Bool { name == "PRIMARY" }
  }

  /// The unique ones that pages can go by.
  private func indexes(
    of table: String, in schema: String, _ connection: MySQLConnection
  ) throws(StoreError) -> [Index] {
    let statement = sql(
      """
      SELECT INDEX_NAME, COLUMN_NAME, SUB_PART, COALESCE(COLLATION, ''), INDEX_TYPE FROM information_schema.STATISTICS
      WHERE TABLE_SCHEMA = \(schema) AND TABLE_NAME = \(table) AND NON_UNIQUE = 0 ORDER BY INDEX_NAME, SEQ_IN_INDEX
      """)
    var indexes: [Index] = []
    try connection.run(statement) { row throws(StoreError) in
      let name = row.text(0)
      if indexes.last?.name != name { indexes.append(Index(name: name)) }
      let last = indexes.count - 1
      let direction = row.text(3)
      if row.isNull(1) || !row.isNull(2) || row.text(4) != "BTREE" || direction.isEmpty
        || indexes[last].direction.map({ $0 != direction }) ?? false
      {
        indexes[last].isUsable = false
      }
      indexes[last].direction = direction
      indexes[last].columns.append(row.text(1))
    }
    return indexes.filter { $0.isUsable && $0.columns.count <= MySQLDialect.mostKeyColumns }
  }

  private func references(
    to table: String, in schema: String, _ connection: MySQLConnection
  ) throws(StoreError) -> [String] {
    let statement = sql(
      """
      SELECT DISTINCT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE
      WHERE REFERENCED_TABLE_SCHEMA = \(schema) AND REFERENCED_TABLE_NAME = \(table)
      ORDER BY TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME
      """)
    return try connection.all(statement) { row throws(StoreError) in
      (row.text(0) == schema ? "" : row.text(0) + ".") + row.text(1) + "." + row.text(2)
    }
  }
}
