import ZonaiCore
import ZonaiSQL

extension PostgresDialect {
  public func hasOwnTable(_ name: StaticString, on connection: PostgresConnection) throws(StoreError) -> Bool {
    let statement = sql("SELECT to_regclass(\(name.description)) IS NOT NULL")
    let isThere = try connection.first(statement) { row throws(StoreError) in row.integer(0) == 1 }
    if isThere == true { return true }
    // It may stand in a schema that the role may not look into, which is passed over as if it were not in the search_path.
    if let error = try elsewhere(TableName(name.description), connection), error.code == .denied { throw error }
    return false
  }

  /// Keyed by the schema that the tables are made in: another one in this database has other tables.
  public func lockForMigration(on connection: PostgresConnection) throws(StoreError) {
    try connection.run(
      sql("SELECT pg_advisory_xact_lock(hashtext('zonai'), hashtext(coalesce(current_schema(), '')))"))
  }

  public func describe(
    _ table: TableName, on connection: PostgresConnection
  ) throws(StoreError) -> TableDescription {
    let id = try find(table, connection)
    let columns = try columns(of: id, connection)
    let keys = try keys(of: id, connection)
    return TableDescription(
      table: table, columns: columns, primaryKey: keys.first { $0.isPrimary }?.columns ?? [],
      uniqueKeys: keys.filter { !$0.isPrimary }.map(\.columns), referencedBy: try references(to: id, connection))
  }

  private func sql(_ text: SQLText) -> SQLStatement {
    var builder = SQLBuilder(self)
    builder.write(text)
    return builder.statement()
  }

  // MARK: Names

  /// The table's number in the catalog.
  private func find(_ table: TableName, _ connection: PostgresConnection) throws(StoreError) -> Int64 {
    let statement = sql(
      """
      SELECT c.oid::bigint, c.relkind FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relname = \(table.name) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND (n.nspname = \(table.schema) OR (\(table.schema)::text IS NULL AND pg_catalog.pg_table_is_visible(c.oid)))
      """)
    let found = try connection.first(statement) { row throws(StoreError) in (id: row.integer(0), kind: row.text(1)) }
    guard let found else { throw try missing(table, connection) }
    switch found.kind {
    case "v", "m":
      throw StoreError(.noSuchTable, "\(table) is a view, which cannot be pruned: name the table behind it")
    case "f":
      throw StoreError(
        .noSuchTable, "\(table) is a foreign table, whose rows cannot be locked: name it in its own database")
    default: return found.id
    }
  }

  private func missing(_ table: TableName, _ connection: PostgresConnection) throws(StoreError) -> StoreError {
    let schemas = try connection.all(
      sql(
        """
        SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
        ORDER BY nspname
        """)
    ) { row throws(StoreError) in row.text(0) }
    if let schema = table.schema, !schemas.contains(schema) {
      return StoreError(
        .noSuchTable,
        "there is no schema \(schema) in this database: " + NearbyNames.phrase(for: schema, among: schemas)
          + "; leave the schema out for the tables of the search_path")
    }
    let statement = sql(
      """
      SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p') AND c.relname !~ '^zonai_' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND (n.nspname = \(table.schema) OR (\(table.schema)::text IS NULL AND pg_catalog.pg_table_is_visible(c.oid)))
      ORDER BY c.relname
      """)
    let names = try connection.all(statement) { row throws(StoreError) in row.text(0) }
    if let found = try elsewhere(table, connection) { return found }
    return StoreError(
      .noSuchTable,
      names.isEmpty
        ? "there is no table \(table), nor any other that this role can see: is this the application's database?"
        : "there is no table \(table) in this database: " + NearbyNames.phrase(for: table.name, among: names))
  }

  /// A table of this name in a schema that is not searched; nil when there is none.
  private func elsewhere(
    _ table: TableName, _ connection: PostgresConnection
  ) throws(StoreError) -> StoreError? {
    let statement = sql(
      """
      SELECT n.nspname, has_schema_privilege(n.oid, 'USAGE') FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relname = \(table.name) AND c.relkind IN ('r', 'p') AND (\(table.schema)::text IS NULL)
      AND (has_schema_privilege(n.oid, 'USAGE') OR position(n.nspname::text IN current_setting('search_path')) > 0)
      ORDER BY position(n.nspname::text IN current_setting('search_path')) = 0, n.nspname LIMIT 1
      """)
    let found = try connection.first(statement) { row throws(StoreError) in
      (schema: PostgresRights.quoted(row.text(0)), isAllowed: row.isNull(1) || row.integer(1) == 1)
    }
    guard let found else { return nil }
    guard found.isAllowed else {
      let role = PostgresRights.quoted(connection.link.place.user)
      return StoreError(
        .denied,
        "the role \(role) may not use the schema \(found.schema): GRANT USAGE ON SCHEMA \(found.schema) TO \(role)")
    }
    return StoreError(
      .noSuchTable,
      "there is no table \(table), but one in the schema \(found.schema): name it \(found.schema).\(table.name)")
  }

  // MARK: Columns

  /// In the table's order, each with the type that it is made of: a domain's values are compared as its base type's.
  private func columns(of table: Int64, _ connection: PostgresConnection) throws(StoreError) -> [ColumnDescription] {
    let statement = sql(
      """
      SELECT a.attname, pg_catalog.format_type(base.oid, -1), NOT a.attnotnull AND NOT base.isnotnull AND a.attgenerated = '',
      base.category, l.collname, l.collisdeterministic, GREATEST(a.atttypmod, base.typtypmod), a.attgenerated <> '',
      (SELECT string_agg(e.enumlabel, E'\\n' ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum e WHERE e.enumtypid = base.oid)
      FROM pg_catalog.pg_attribute a
      CROSS JOIN LATERAL (
      WITH RECURSIVE made AS (
      SELECT t.oid, t.typtype, t.typbasetype, t.typnotnull, t.typcategory, t.typtypmod FROM pg_catalog.pg_type t
      WHERE t.oid = a.atttypid
      UNION ALL
      SELECT t.oid, t.typtype, t.typbasetype, t.typnotnull, t.typcategory, t.typtypmod FROM pg_catalog.pg_type t
      JOIN made ON made.typtype = 'd' AND t.oid = made.typbasetype)
      SELECT (SELECT oid FROM made WHERE typtype <> 'd') AS oid, (SELECT bool_or(typnotnull) FROM made) AS isnotnull,
      (SELECT typcategory FROM made WHERE typtype <> 'd') AS category, (SELECT max(typtypmod) FROM made) AS typtypmod) base
      LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
      WHERE a.attrelid = \(table)::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
      """)
    return try connection.all(statement) { row throws(StoreError) in
      let type = row.text(1)
      var problem: String?
      if PostgresColumn.isCaseInsensitive(type) {
        problem = "its type citext ignores case"
      } else if !row.isNull(5), row.integer(5) == 0 {
        problem = "its collation \(row.text(4)) holds texts equal that differ"
      } else if row.text(3) == "A" {
        problem = "its type \(type) is an array"
      }
      return ColumnDescription(
        name: row.text(0), type: type,
        kind: PostgresColumn.kind(
          type, category: row.text(3),
          words: row.optionalText(8)?.split(separator: "\n", omittingEmptySubsequences: false).map(String.init),
          isDeterministic: row.isNull(5) || row.integer(5) == 1),
        isNullable: row.integer(2) == 1, isGenerated: row.integer(7) == 1, orderProblem: problem,
        capacity: PostgresColumn.capacity(type, modifier: Int(row.integer(6))))
    }
  }

  // MARK: Keys

  private struct Key {
    var isPrimary: Bool
    var columns: [String]
  }

  /// Unique indexes that ORDER BY over their columns goes by: valid, whole, over columns, of one direction, by the types'
  /// own order and the columns' own collations.
  private func keys(of table: Int64, _ connection: PostgresConnection) throws(StoreError) -> [Key] {
    let statement = sql(
      """
      SELECT i.indexrelid::bigint, i.indisprimary, a.attname
      FROM pg_catalog.pg_index i
      CROSS JOIN LATERAL generate_series(0, i.indnkeyatts - 1) AS k(place)
      LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k.place]
      WHERE i.indrelid = \(table)::oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
      AND NOT EXISTS (
      SELECT 1 FROM generate_series(0, i.indnkeyatts - 1) AS p(place)
      JOIN pg_catalog.pg_opclass o ON o.oid = i.indclass[p.place]
      LEFT JOIN pg_catalog.pg_attribute b ON b.attrelid = i.indrelid AND b.attnum = i.indkey[p.place]
      WHERE NOT o.opcdefault OR i.indcollation[p.place] <> b.attcollation
      OR i.indoption[p.place] <> i.indoption[0] OR i.indoption[p.place] NOT IN (0, 3))
      ORDER BY i.indexrelid, k.place
      """)
    var keys: [Key] = []
    var last: Int64?
    try connection.run(statement) { row throws(StoreError) in
      if row.integer(0) != last { keys.append(Key(isPrimary: row.integer(1) == 1, columns: [])) }
      last = row.integer(0)
      keys[keys.count - 1].columns.append(row.text(2))
    }
    return keys
  }

  /// "orders.device", with the schema where it is another one than the table's.
  private func references(to table: Int64, _ connection: PostgresConnection) throws(StoreError) -> [String] {
    let statement = sql(
      """
      SELECT DISTINCT CASE WHEN c.relnamespace = own.relnamespace THEN '' ELSE n.nspname || '.' END
      || c.relname || '.' || a.attname AS reference
      FROM pg_catalog.pg_constraint f
      JOIN pg_catalog.pg_class own ON own.oid = f.confrelid
      JOIN pg_catalog.pg_class c ON c.oid = f.conrelid
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      CROSS JOIN LATERAL unnest(f.conkey) AS k(number)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.number
      WHERE f.confrelid = \(table)::oid AND f.contype = 'f' AND f.conparentid = 0 ORDER BY reference
      """)
    return try connection.all(statement) { row throws(StoreError) in row.text(0) }
  }
}
