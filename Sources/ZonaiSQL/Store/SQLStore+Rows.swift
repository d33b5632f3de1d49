import ZonaiCore

/// Reading the application's table: key, token, and the columns that the caller named.
extension SQLStore {
  /// The recipients with keys after `from` up to `to`, in key order.
  func page(
    _ plan: JobPlan, after from: RowKey?, upTo to: RowKey, limit: Int, _ connection: Driver.Connection
  ) throws(StoreError) -> Recipients {
    var recipients = Recipients(tokenColumn: plan.target.token)
    recipients.reserve(limit)
    var reader = RecipientReader(plan, firstColumn: 0)
    try connection.run(pageStatement(plan, after: from, upTo: to, limit: limit)) { row throws(StoreError) in
      try reader.read(row, into: &recipients)
    }
    return recipients
  }

  package func pageStatement(
    _ definition: JobDefinition, in table: TableDescription, after from: RowKey?, upTo to: RowKey, limit: Int
  ) throws(StoreError) -> SQLStatement {
    pageStatement(try JobPlan(definition, table: table, dialect: dialect), after: from, upTo: to, limit: limit)
  }

  private func pageStatement(_ plan: JobPlan, after from: RowKey?, upTo to: RowKey, limit: Int) -> SQLStatement {
    var builder = SQLBuilder(dialect)
    builder.append("SELECT ")
    builder.list(plan.readColumns) { $1.identifier($0) }
    builder.append(" FROM ")
    dialect.appendTable(plan.target, to: &builder)
    builder.append(" WHERE ")
    builder.recipients(of: plan)
    if let from {
      builder.append(" AND ")
      dialect.appendBound(.after, from, of: plan.target.key, to: &builder)
    }
    builder.append(" AND ")
    dialect.appendBound(.upTo, to, of: plan.target.key, to: &builder)
    builder.append(" ORDER BY ")
    builder.list(plan.target.key) { $1.identifier($0) }
    builder.append(" LIMIT ")
    builder.bind(.integer(Int64(limit)))
    return builder.statement()
  }

  /// The key of the audience's last recipient; nil when it has none.
  func lastKey(_ plan: JobPlan, _ connection: Driver.Connection) throws(StoreError) -> RowKey? {
    var builder = SQLBuilder(dialect)
    builder.append("SELECT ")
    builder.list(plan.target.key) { $1.identifier($0) }
    builder.append(" FROM ")
    dialect.appendTable(plan.target, to: &builder)
    builder.append(" WHERE ")
    builder.recipients(of: plan)
    builder.append(" ORDER BY ")
    builder.list(plan.target.key) {
      $1.identifier($0)
      $1.append(" DESC")
    }
    builder.append(" LIMIT 1")
    return try connection.first(builder.statement()) { row throws(StoreError) in
      var values: [Value] = []
      for column in plan.target.key.indices { values.append(try row.keyValue(column)) }
      return RowKey(values)
    }
  }

  /// The rows with these keys that are still recipients, and which key each belongs to.
  func rows(
    _ plan: JobPlan, keys: [RowKey], _ connection: Driver.Connection
  ) throws(StoreError) -> (recipients: Recipients, numbers: [Int]) {
    var recipients = Recipients(tokenColumn: plan.target.token)
    var numbers: [Int] = []
    var reader = RecipientReader(plan, firstColumn: 1)
    for start in stride(from: 0, to: keys.count, by: dialect.pairsAtOnce) {
      let some = Array(keys[start..<min(keys.count, start + dialect.pairsAtOnce)])
      let statement = try rowsStatement(plan, keys: some)
      try connection.run(statement) { row throws(StoreError) in
        numbers.append(start + Int(row.integer(0)))
        try reader.read(row, into: &recipients)
      }
    }
    return (recipients, numbers)
  }

  /// The keys of an audience's first recipients: what an enqueue would accept, with nothing written
  /// down.
  package func keys(
    of request: EnqueueRequest, in table: TableDescription, limit: Int
  ) async throws(StoreError) -> [RowKey] {
    try await read { connection throws(StoreError) in
      let definition = try AudienceRules.resolve(request, against: table)
      let plan = try JobPlan(definition, table: table, dialect: dialect)
      let page = try page(
        plan, after: nil, upTo: RowKey(plan.target.key.map { _ in .integer(.max) }), limit: limit, connection)
      return (0..<page.count).map { page.keys[$0] }
    }
  }

  package func rowsStatement(
    _ definition: JobDefinition, in table: TableDescription, keys: [RowKey]
  ) throws(StoreError) -> SQLStatement {
    try rowsStatement(try JobPlan(definition, table: table, dialect: dialect), keys: keys)
  }

  private func rowsStatement(_ plan: JobPlan, keys: [RowKey]) throws(StoreError) -> SQLStatement {
    try dialect.selectByKey(plan.target, keys: keys, columns: plan.readColumns) { builder throws(StoreError) in
      // The keys are bound before it, so a condition that was rendered earlier does not fit here.
      if let predicate = plan.definition.audience.predicate {
        builder.append("(")
        try builder.predicate(predicate, in: plan.table)
        builder.append(") AND ")
      }
      dialect.appendHasToken(plan.target.token, to: &builder)
    }
  }
}

extension SQLBuilder {
  /// The condition that makes a row a recipient; the first part of a WHERE clause.
  fileprivate mutating func recipients(of plan: JobPlan) {
    if let filter = plan.filter {
      append(filter)
      append(" AND ")
    }
    dialect.appendHasToken(plan.target.token, to: &self)
  }
}

/// Reads rows whose columns are a plan's `readColumns`, without allocating for the common ones.
struct RecipientReader {
  private let keyColumns: Range<Int>
  private let tokenColumn: Int
  private let platformColumn: Int?
  private let lastSeenColumn: Int?
  private let fixed: Platform
  /// Platforms by their spelling in the table: a handful, met over and over.
  private var known: [(spelling: [UInt8], platform: Platform)] = []

  init(_ plan: JobPlan, firstColumn: Int) {
    keyColumns = firstColumn..<firstColumn + plan.target.key.count
    tokenColumn = keyColumns.upperBound
    platformColumn = plan.platform == nil ? nil : tokenColumn + 1
    lastSeenColumn = plan.target.lastSeen == nil ? nil : tokenColumn + (plan.platform == nil ? 1 : 2)
    if case .fixed(let platform) = plan.definition.audience.platform { fixed = platform } else { fixed = .unknown }
  }

  mutating func read(_ row: some SQLRow, into recipients: inout Recipients) throws(StoreError) {
    let platform = platformColumn.map { self.platform(row.bytes($0)) } ?? fixed
    var lastSeen: Value?
    if let lastSeenColumn { lastSeen = row.value(lastSeenColumn) }
    let first = try row.keyValue(keyColumns.lowerBound)
    if keyColumns.count == 1, case .integer(let key) = first {
      recipients.append(integerKey: key, token: row.token(tokenColumn), platform: platform, lastSeen: lastSeen)
      return
    }
    var values = [first]
    for column in keyColumns.dropFirst() { values.append(try row.keyValue(column)) }
    recipients.append(key: RowKey(values), token: row.token(tokenColumn), platform: platform, lastSeen: lastSeen)
  }

  private mutating func platform(_ spelling: UnsafeRawBufferPointer) -> Platform {
    if spelling.isEmpty { return .unknown }
    if let known = known.first(where: { $0.spelling.elementsEqual(spelling) }) { return known.platform }
    let platform = Platform(String(decoding: spelling, as: UTF8.self))
    // A column that holds other things than platforms must not grow this for ever.
    if known.count < 64 { known.append((Array(spelling), platform)) }
    return platform
  }
}
