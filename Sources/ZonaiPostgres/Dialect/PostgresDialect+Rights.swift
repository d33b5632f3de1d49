import ZonaiCore
import ZonaiSQL

extension PostgresDialect {
  /// Asked before anything is sent: a prune that is denied afterwards would leave dead tokens where they are.
  public func checkRights(
    _ policy: Policy, on target: PruneTarget, _ connection: PostgresConnection
  ) throws(StoreError) {
    var name = SQLBuilder(self)
    name.identifier(target.table)
    let table = name.statement().text
    var builder = SQLBuilder(self)
    builder.write(
      """
      SELECT bool_and(has_column_privilege(a.attrelid, a.attnum, 'SELECT')),
      bool_or(a.attname = \(target.token.name) AND has_column_privilege(a.attrelid, a.attnum, 'UPDATE')),
      bool_or(has_column_privilege(a.attrelid, a.attnum, 'UPDATE')),
      has_table_privilege(a.attrelid, 'DELETE')
      FROM pg_catalog.pg_attribute a WHERE a.attrelid = to_regclass(\(table)) AND a.attnum > 0 AND NOT a.attisdropped
      GROUP BY a.attrelid
      """)
    let rights = try connection.first(builder.statement()) { row throws(StoreError) in
      (0..<4).map { row.integer($0) == 1 }
    }
    guard let rights else { return }
    var missing: [String] = []
    // Hooks see the row whole.
    if !rights[0] { missing.append("SELECT") }
    switch policy {
    case .none: break
    case .clearColumn: if !rights[1] { missing.append("UPDATE (\(quotedIfOdd(target.token.name)))") }
    case .deleteRow:
      if !rights[3] { missing.append("DELETE") }
      // Rows cannot be locked without it. https://www.postgresql.org/docs/current/sql-select.html
      if !rights[2] { missing.append("UPDATE") }
    }
    guard !missing.isEmpty else { return }
    let role = quotedIfOdd(connection.link.place.user)
    let named = [target.table.schema, target.table.name].compactMap { $0.map(quotedIfOdd) }.joined(separator: ".")
    throw StoreError(
      .denied,
      "the role \(role) may not do to \(named) what this job does: GRANT \(missing.joined(separator: ", ")) ON \(named) "
        + "TO \(role)")
  }

  private func quotedIfOdd(_ name: String) -> String { PostgresRights.quoted(name) }
}
