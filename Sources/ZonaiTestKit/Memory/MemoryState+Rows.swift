import ZonaiCore

/// Reading the application's tables.
extension MemoryState {
  /// Why an audience that was fine at its enqueuing cannot be read now; nil when it can.
  func whatIsGone(of audience: Audience) -> String? {
    guard let table = tables[audience.table] else {
      return "the table \(audience.table) is gone: restore it, then resume the job"
    }
    for column in audience.columns where table.position(of: column) == nil {
      return "the column \(column) of \(audience.table) is gone: restore it, then resume the job"
    }
    return nil
  }

  /// The positions of recipients with keys after `from` up to `to`, in key order.
  mutating func page(of audience: Audience, after from: RowKey?, upTo to: RowKey?, limit: Int) -> [Int] {
    guard let places = tables[audience.table]?.places(after: from, upTo: to, by: audience.key),
      let order = tables[audience.table]?.order(by: audience.key), let table = tables[audience.table]
    else { return [] }
    let test = RowTest(audience.predicate, in: table)
    var page: [Int] = []
    for place in places where isRecipient(order[place], of: table, audience, test) {
      page.append(order[place])
      if page.count == limit { break }
    }
    return page
  }

  mutating func lastKey(of audience: Audience) -> RowKey? {
    guard let order = tables[audience.table]?.order(by: audience.key), let table = tables[audience.table] else {
      return nil
    }
    let test = RowTest(audience.predicate, in: table)
    return order.last { isRecipient($0, of: table, audience, test) }.map { table.key(audience.key, of: $0) }
  }

  /// The row with this key, if it is still a recipient.
  mutating func recipientRow(_ key: RowKey, of audience: Audience) -> Int? {
    guard let row = tables[audience.table]?.find(key, by: audience.key), let table = tables[audience.table],
      isRecipient(row, of: table, audience, RowTest(audience.predicate, in: table))
    else { return nil }
    return row
  }

  /// The row that a rejection speaks of, if key, token and last-seen are what was sent.
  mutating func row(of rejection: Rejection, in audience: Audience) -> Int? {
    guard let row = tables[audience.table]?.find(rejection.key, by: audience.key), let table = tables[audience.table],
      table.value(audience.token, of: row).tokenBytes == rejection.token.bytes
    else { return nil }
    if let column = audience.lastSeen, let seen = rejection.lastSeen {
      guard ValueOrder.same(table.value(column, of: row), seen) else { return nil }
    }
    return row
  }

  /// None yet, and the column that their tokens come from.
  func recipients(of audience: Audience) -> Recipients {
    Recipients(tokenColumn: (try? describe(audience.table))?.column(audience.token))
  }

  func append(_ row: Int, to recipients: inout Recipients, _ audience: Audience) {
    guard let table = tables[audience.table], let token = table.value(audience.token, of: row).tokenBytes else {
      return
    }
    let key = table.key(audience.key, of: row)
    let platform = platform(of: row, in: table, audience)
    let seen = audience.lastSeen.map { table.value($0, of: row) }
    token.withUnsafeBytes { recipients.append(key: key, token: $0, platform: platform, lastSeen: seen) }
  }

  func platform(of row: Int, in table: MemoryTable, _ audience: Audience) -> Platform {
    switch audience.platform {
    case .unknown: .unknown
    case .fixed(let platform): platform
    case .column(let column):
      if case .text(let name) = table.value(column, of: row) { Platform(name) } else { .unknown }
    }
  }

  private func isRecipient(_ row: Int, of table: MemoryTable, _ audience: Audience, _ test: RowTest) -> Bool {
    guard let token = table.value(audience.token, of: row).tokenBytes, !token.isEmpty else { return false }
    return test.accepts(table.rows[row])
  }
}

extension Value {
  /// As the words of a database quote it.
  var spelled: String {
    switch self {
    case .text(let text): text
    default: "\(self)"
    }
  }

  /// A token's bytes; nil where the column holds none.
  var tokenBytes: [UInt8]? {
    switch self {
    case .text(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    case .null, .boolean, .integer, .real: nil
    }
  }
}

extension Audience {
  /// Every column that the audience names.
  var columns: [String] {
    var columns = key + [token]
    if case .column(let platform) = platform { columns.append(platform) }
    if let lastSeen { columns.append(lastSeen) }
    return columns + (predicate?.columns ?? [])
  }
}
