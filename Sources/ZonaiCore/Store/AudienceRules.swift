/// What an audience must be so that Zonai can page through it, prune it, and never touch a wrong row.
///
/// Every store asks here, at enqueue and again at a job's first claim, so that the same mistake gets the same sentence from
/// all of them. Pure: the table comes described, nothing is read.
public enum AudienceRules {
  /// How many bytes of UTF-8 an idempotency key may have: what every database's index takes, with room to spare.
  public static let longestIdempotencyKey = 255

  /// The request's definition with the audience's key filled in; throws what is wrong with it, and what to do.
  public static func resolve(
    _ request: EnqueueRequest, against table: TableDescription
  ) throws(StoreError) -> JobDefinition {
    var definition = request.definition
    if let problem = request.app.problem { throw StoreError(.invalidRequest, problem) }
    if request.idempotencyKey?.isEmpty == true { throw emptyIdempotencyKey }
    if let key = request.idempotencyKey, key.utf8.count > longestIdempotencyKey {
      throw StoreError(
        .invalidRequest,
        "the idempotency key has \(key.utf8.count) bytes, and \(longestIdempotencyKey) at most are kept: shorten it, or use a "
          + "digest of it")
    }
    if let predicate = definition.audience.predicate {
      guard let flat = predicate.flattened else {
        throw StoreError(
          .invalidPredicate,
          "the predicate nests and, or and not more than \(Predicate.depthLimit) deep: write it flatter")
      }
      definition.audience.predicate = flat
    }
    try checkColumns(of: definition.audience, in: table)
    try checkToken(definition.audience, in: table)
    definition.audience.key = try key(for: definition.audience, in: table)
    try checkPolicy(definition, in: table, deletesReferencedRows: request.deletesReferencedRows)
    if let predicate = definition.audience.predicate { try checkPredicate(predicate, in: table) }
    return definition
  }

  package static let emptyIdempotencyKey = StoreError(
    .invalidRequest, "the idempotency key is empty: give it a value or leave it out")

  /// Whether a definition says what a stored one says, whose key was filled in: asked before the table is looked at, which
  /// may have changed since.
  public static func isRepeat(_ definition: JobDefinition, of stored: JobDefinition) -> Bool {
    var filled = definition
    var stored = stored
    filled.audience.predicate = definition.audience.predicate?.flattened
    stored.audience.predicate = stored.audience.predicate?.flattened
    if definition.audience.key.isEmpty || Set(definition.audience.key) == Set(stored.audience.key) {
      filled.audience.key = stored.audience.key
    }
    return filled == stored
  }

  // MARK: Columns

  private static func checkColumns(of audience: Audience, in table: TableDescription) throws(StoreError) {
    try require(audience.token, as: "token column", in: table)
    if case .column(let platform) = audience.platform { try require(platform, as: "platform column", in: table) }
    if let lastSeen = audience.lastSeen { try require(lastSeen, as: "last-seen column", in: table) }
    for name in audience.key { try require(name, as: "key column", in: table) }
    for name in audience.predicate?.columns ?? [] {
      try require(name, as: "column of the predicate", in: table)
    }
  }

  private static func require(_ name: String, as role: String, in table: TableDescription) throws(StoreError) {
    guard table.column(name) == nil else { return }
    throw StoreError(
      .noSuchColumn,
      "the table \(table.table) has no column \(name), named as \(role): "
        + NearbyNames.phrase(for: name, among: table.columns.map(\.name)))
  }

  /// One row holds one token.
  private static func checkToken(_ audience: Audience, in table: TableDescription) throws(StoreError) {
    guard let column = table.column(audience.token) else { return }
    let token = audience.token
    switch column.kind {
    case .array:
      throw StoreError(
        .noSingleToken,
        "the token column \(token) of \(table.table) is an array, and a row of an audience holds one token: push to a table "
          + "with one token a row, which CREATE TABLE device_tokens AS SELECT \(key(table)), unnest(\(token)) AS token FROM "
          + "\(table.table) makes, and ALTER TABLE device_tokens ADD device bigserial PRIMARY KEY")
    case .json:
      throw StoreError(
        .noSingleToken,
        "the token column \(token) of \(table.table) is JSON, and a row of an audience holds one token as plain text: push "
          + "to a table with one token a row")
    default: return
    }
  }

  private static func key(_ table: TableDescription) -> String {
    table.primaryKey.isEmpty ? "1" : table.primaryKey.joined(separator: ", ")
  }

  // MARK: Key

  /// The key columns in the key's own order, which is the order of the index that pages go by.
  private static func key(for audience: Audience, in table: TableDescription) throws(StoreError) -> [String] {
    guard !audience.key.isEmpty else {
      guard !table.primaryKey.isEmpty else {
        throw StoreError(
          .noUsableKey,
          "the table \(table.table) has no primary key to page by: add one, or name the columns of a unique index over "
            + "NOT NULL columns as key" + choices(in: table))
      }
      try checkKey(table.primaryKey, isPrimary: true, in: table)
      return table.primaryKey
    }
    let wanted = Set(audience.key)
    if wanted.count == audience.key.count {
      if wanted == Set(table.primaryKey) {
        try checkKey(table.primaryKey, isPrimary: true, in: table)
        return table.primaryKey
      }
      if let unique = table.uniqueKeys.first(where: { $0.count == wanted.count && Set($0) == wanted }) {
        try checkKey(unique, isPrimary: false, in: table)
        return unique
      }
    }
    let named = audience.key.joined(separator: ", ")
    throw StoreError(
      .noUsableKey,
      "\(named) is not a key of \(table.table): name exactly the columns of its primary key or of a unique index"
        + choices(in: table))
  }

  private static func checkKey(_ key: [String], isPrimary: Bool, in table: TableDescription) throws(StoreError) {
    for name in key {
      guard let column = table.column(name) else { continue }
      if let problem = column.orderProblem {
        throw StoreError(
          .noUsableKey,
          "\(table.table) cannot be paged by \(name), since \(problem): name another key" + choices(in: table, but: key)
        )
      }
      if column.isNullable, !isPrimary {
        throw StoreError(
          .noUsableKey,
          "the key column \(name) of \(table.table) may be NULL, and such rows would be skipped: declare it NOT NULL, or "
            + "name another key" + choices(in: table, but: key))
      }
      if column.isNullable, column.holdsNull {
        throw StoreError(
          .noUsableKey,
          "some rows of \(table.table) are NULL in the key column \(name) and would be skipped: give them a value and "
            + "declare the column NOT NULL, or name another key" + choices(in: table, but: key))
      }
    }
  }

  /// The keys that would do, as the end of a sentence.
  private static func choices(in table: TableDescription, but refused: [String] = []) -> String {
    var keys = table.primaryKey.isEmpty ? [] : [table.primaryKey]
    keys += table.uniqueKeys.filter { unique in
      unique.allSatisfy { table.column($0)?.isNullable == false }
    }
    let usable = keys.filter { key in
      key != refused && key.allSatisfy { table.column($0)?.orderProblem == nil && table.column($0)?.holdsNull == false }
    }
    guard !usable.isEmpty else { return "" }
    let listed = usable.map { "(" + $0.joined(separator: ", ") + ")" }
    return "; it has " + listed.joined(separator: " and ")
  }

  // MARK: Policy

  private static func checkPolicy(
    _ definition: JobDefinition, in table: TableDescription, deletesReferencedRows: Bool
  ) throws(StoreError) {
    let token = definition.audience.token
    switch definition.policy {
    case .none: return
    case .clearColumn:
      guard !definition.audience.key.contains(token) else {
        throw StoreError(
          .tokenNotNullable,
          "the token column \(token) of \(table.table) is part of the key and cannot be cleared: name another key, or use "
            + "the policy deleteRow (for a table that holds nothing but tokens) or none")
      }
      guard table.column(token)?.isGenerated == false else {
        throw StoreError(
          .tokenNotNullable,
          "the token column \(token) of \(table.table) is generated from other columns and cannot be cleared: name the column "
            + "that it is made of, or use the policy deleteRow (for a table that holds nothing but tokens) or none")
      }
      guard table.column(token)?.isNullable == true else {
        throw StoreError(
          .tokenNotNullable,
          "the token column \(token) of \(table.table) is NOT NULL and cannot be cleared: make it nullable, or use the "
            + "policy deleteRow (for a table that holds nothing but tokens) or none")
      }
    case .deleteRow:
      guard table.referencedBy.isEmpty || deletesReferencedRows else {
        throw StoreError(
          .referencedRows,
          "deleteRow would delete rows of \(table.table) that other tables reference "
            + "(\(table.referencedBy.joined(separator: ", "))): use clearColumn, or say that it is meant (deletesReferencedRows; --delete-referenced-rows)"
        )
      }
    }
  }

  // MARK: Predicate

  /// Whether each comparison can be made exactly. The statement asks again, against the table as it
  /// is then.
  private static func checkPredicate(
    _ predicate: Predicate, in table: TableDescription
  ) throws(StoreError) {
    switch predicate {
    case .compare(let column, let comparison, .null):
      throw StoreError(
        .invalidPredicate,
        "\(column) \(comparison.rawValue) NULL accepts no row at all: use \(column) is null or \(column) is not null")
    case .isIn(let column, let values) where values.contains(.null):
      throw StoreError(
        .invalidPredicate,
        "NULL in the list for \(column) matches no row: take it out, or add \"or \(column) is null\"")
    case .and(let parts), .or(let parts):
      for part in parts { try checkPredicate(part, in: table) }
    case .not(let part):
      try checkPredicate(part, in: table)
    case .compare(let name, let comparison, let value):
      if let column = table.column(name) { _ = try column.test(comparison, value) }
    case .isIn(let name, let values):
      if let column = table.column(name), !values.isEmpty { _ = try column.test(in: values) }
    case .like(let name, let pattern):
      if let column = table.column(name) { _ = try column.test(like: pattern) }
    case .isNull: return
    }
  }
}
