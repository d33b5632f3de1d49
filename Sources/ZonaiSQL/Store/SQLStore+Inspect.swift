import ZonaiCore

extension SQLStore {
  public func inspect(_ request: InspectRequest) async throws(StoreError) -> Inspection {
    switch request {
    case .witnesses(let lease, let groups):
      return try await read { connection throws(StoreError) in
        try checkVersion(connection)
        return .witnesses(try counts(lease.job, groups, connection))
      }
    case .rows(let lease, let rejections):
      do throws(StoreError) {
        return try await read { connection throws(StoreError) in
          try checkVersion(connection)
          return .rows(try rows(lease.job, rejections, connection))
        }
      } catch {
        // Where the table or a column is gone, no row matches any more.
        guard error.isAboutTheTable else { throw error }
        guard try await read({ connection throws(StoreError) in try isGone(lease.job, connection) }) else {
          throw error
        }
        return .rows(rejections.map { _ in nil })
      }
    }
  }

  // MARK: Witnesses

  /// - Parameter lock: what locks the records of the lanes, for a caller that changes them next.
  func counts(
    _ job: JobID, _ groups: [Group], _ connection: Driver.Connection, lock: StaticString = ""
  ) throws(StoreError) -> [Group: GroupCounts] {
    var accounts: [Group: GroupCounts] = [:]
    for group in groups.sorted(by: { $0.order < $1.order }) {
      accounts[group] = try record(of: group, connection, lock: lock)
    }
    let statement = sql(
      """
      SELECT \(words: StoredLine.columns), count FROM zonai_tally WHERE job = \(job.rawValue)
      """)
    try connection.run(statement) { row throws(StoreError) in
      let line = StoredLine(row)
      let count = Int(row.integer(7))
      if line.outcome == TallyLine.Outcome.delivered.rawValue {
        for group in groups
        where group.transport.rawValue == line.transport && group.fingerprint == line.fingerprint {
          accounts[group]?.deliveredOnLane += count
        }
      }
      accounts[line.group]?.add(
        count, outcome: TallyLine.Outcome(rawValue: line.outcome), evidence: Evidence(rawValue: line.evidence))
    }
    return accounts
  }

  /// What is remembered of the group's lane, over all jobs.
  private func record(
    of group: Group, _ connection: Driver.Connection, lock: StaticString
  ) throws(StoreError) -> GroupCounts {
    var account = GroupCounts()
    let statement = sql(
      """
      SELECT platform, last_delivered_at, circumstantial_since FROM zonai_lanes
      WHERE transport = \(StoredWord.of(group.transport.rawValue)) AND fingerprint = \(StoredWord.of(group.fingerprint))
      ORDER BY platform\(words: lock)
      """)
    try connection.run(statement) { row throws(StoreError) in
      let delivered = row.optionalInteger(1)
      if let delivered { account.laneLastDeliveredAt = max(delivered, account.laneLastDeliveredAt ?? .min) }
      guard row.text(0) == StoredWord.of(group.platform.name) else { return }
      account.recordLastDeliveredAt = delivered
      account.recordCircumstantialSince = Int(row.integer(2))
    }
    return account
  }

  // MARK: Rows

  private func rows(
    _ job: JobID, _ rejections: [Rejection], _ connection: Driver.Connection
  ) throws(StoreError) -> [Row?] {
    var rows: [Row?] = Array(repeating: nil, count: rejections.count)
    let target = try plan(job, connection).target
    for start in stride(from: 0, to: rejections.count, by: dialect.pairsAtOnce) {
      let some = Array(rejections[start..<min(rejections.count, start + dialect.pairsAtOnce)])
      var columns: [String] = []
      try connection.run(dialect.selectPairs(target, some)) { row throws(StoreError) in
        if columns.isEmpty { for column in 1..<row.columnCount { columns.append(row.name(column)) } }
        var values: [Value] = []
        values.reserveCapacity(columns.count)
        for column in 1...columns.count {
          let value = row.value(column)
          if case .bytes = value, columns[column - 1] == target.token.name {
            values.append(.bytes(Array(row.token(column))))
          } else {
            values.append(value)
          }
        }
        rows[start + Int(row.integer(0))] = Row(columns: columns, values: values)
      }
    }
    return rows
  }
}

extension Group {
  /// The order in which records are locked.
  var order: (String, String, String) { (transport.rawValue, fingerprint, platform.name) }
}
