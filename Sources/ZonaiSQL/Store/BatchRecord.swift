import ZonaiCore

/// An open batch's row.
struct BatchRecord: Sendable {
  var batch: Int64
  /// Where the range begins, without this key; nil at the audience's beginning.
  var from: RowKey?
  /// Where the range ends, with this key.
  var to: RowKey
  /// nil: everybody in the range is owed an answer. Otherwise only these are.
  var owed: [OwedRecipient]?
  var rejections: [Rejection]
  /// The rejections as the row has them.
  private let storedRejections: String?
  var isFirst: Bool
  var fence: Int64
  var takeovers: Int
  var unsettled: Int
  var isSettling: Bool
  /// Who has it; nil when its lease was given back or never taken.
  var worker: String?
  var dueAt: Int64

  static let columns: StaticString = """
    batch, from_key, to_key, owed, rejections, is_first, fence, takeovers, unsettled, is_settling, worker, due_at
    """

  /// `before` is the same row as it was read a moment ago: what has not changed since is not read again.
  init(_ row: some SQLRow, before: BatchRecord? = nil) throws(StoreError) {
    batch = row.integer(0)
    from = row.isNull(1) ? nil : try RowKey(stored: row.text(1))
    to = try RowKey(stored: row.text(2))
    owed = row.isNull(3) ? nil : try [OwedRecipient](stored: row.text(3))
    storedRejections = row.optionalText(4)
    if let before, before.storedRejections == storedRejections {
      rejections = before.rejections
    } else {
      rejections = try storedRejections.map { text throws(StoreError) in try [Rejection](stored: text) } ?? []
    }
    isFirst = row.integer(5) != 0
    fence = row.integer(6)
    takeovers = Int(row.integer(7))
    unsettled = Int(row.integer(8))
    isSettling = row.integer(9) != 0
    worker = row.optionalText(10)
    dueAt = row.integer(11)
  }
}

extension SQLStore {
  func batch(
    _ job: JobID, _ batch: Int64, _ connection: Driver.Connection, lock: StaticString = "",
    before: BatchRecord? = nil
  ) throws(StoreError) -> BatchRecord? {
    let statement = sql(
      """
      SELECT \(words: BatchRecord.columns) FROM zonai_batches
      WHERE job = \(job.rawValue) AND batch = \(batch)\(words: lock)
      """)
    return try connection.first(statement) { row throws(StoreError) in try BatchRecord(row, before: before) }
  }

  /// The batch, if the caller still owns it.
  func owned(
    _ lease: BatchLease, _ connection: Driver.Connection, lock: StaticString = "", before: BatchRecord? = nil
  ) throws(StoreError) -> BatchRecord? {
    guard let batch = try batch(lease.job, lease.batch, connection, lock: lock, before: before),
      batch.fence == lease.fence, batch.worker != nil
    else { return nil }
    return batch
  }
}
