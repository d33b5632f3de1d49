/// The statements that the store runs for a page, typed anew. What differs between databases is `words`.
struct HandStatements {
  let words: any HandWords

  private static let job = """
    id, state, transports, suspects, kept_groups, frontier, last_key, is_started, at_end, first_batch, next_batch, \
    delivered, permanently_rejected, transiently_failed, expired, pruned, spared, kept, repeated_by_takeover, \
    repeated_after_lost_answer, hooks_failed, error_code, error_detail, created_at, due_at, started_at, finished_at, \
    resumed_at, turn, CASE WHEN definition IS NULL THEN 1 ELSE 0 END
    """
  private static let batch = """
    batch, from_key, to_key, owed, rejections, is_first, fence, takeovers, unsettled, is_settling, worker, due_at
    """

  // MARK: The look for work

  var now: String { "SELECT \(words.now), version FROM zonai_meta WHERE id = 1" }
  var version: String { "SELECT version FROM zonai_meta WHERE id = 1" }
  var openJobs: String {
    "SELECT \(Self.job) FROM zonai_jobs WHERE state IN ('pending', 'running') AND app = '' ORDER BY turn, id"
  }
  var dueBatch: String {
    numbered(
      "SELECT \(Self.batch) FROM zonai_batches WHERE job = ? AND due_at <= ? ORDER BY due_at, batch LIMIT 1")
  }
  var openBatches: String {
    numbered(
      "SELECT COUNT(*), COALESCE(SUM(owed_count), 0), MIN(owed_due_at) FROM zonai_batches WHERE job = ?")
  }
  func page(isFirst: Bool) -> String { numbered(words.page(isFirst: isFirst)) }

  // MARK: The claim

  var lockedJob: String {
    numbered("SELECT \(Self.job) FROM zonai_jobs WHERE id = ? AND state <> ?\(words.lock)")
  }
  var claimedJob: String {
    numbered(
      """
      UPDATE zonai_jobs SET state = ?, started_at = ?, is_started = 1, last_key = ?, at_end = ?, frontier = ?,
      next_batch = ?, first_batch = ?, turn = ? WHERE id = ?
      """)
  }
  var newBatch: String {
    numbered(
      """
      INSERT INTO zonai_batches (job, batch, from_key, to_key, is_first, fence, unsettled, worker, due_at)
      VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?)
      """)
  }

  // MARK: The settling

  var batch: String { numbered("SELECT \(Self.batch) FROM zonai_batches WHERE job = ? AND batch = ?") }
  var lockedBatch: String {
    numbered("SELECT \(Self.batch) FROM zonai_batches WHERE job = ? AND batch = ?\(words.lock)")
  }
  var answeredBatch: String {
    numbered(
      """
      UPDATE zonai_batches SET owed = ?, owed_count = ?, owed_due_at = NULL, resting_count = ?, suspects = NULL,
      rejections = ?, unsettled = ?, is_settling = ?, worker = ?, due_at = ? WHERE job = ? AND batch = ?
      """)
  }
  var endedBatch: String { numbered("DELETE FROM zonai_batches WHERE job = ? AND batch = ?") }
  var tally: String {
    numbered(
      """
      INSERT INTO zonai_tally
      (job, line, transport, fingerprint, platform, outcome, evidence, reason, detail, count)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

      """
        + words.whenThere(
          ["job", "line"], ["count = \(words.old("zonai_tally.count")) + \(words.new("count"))"]))
  }
  var lane: String {
    numbered(
      """
      INSERT INTO zonai_lanes (transport, fingerprint, platform, circumstantial_since, last_delivered_at)
      VALUES (?, ?, ?, ?, ?)

      """
        + words.whenThere(
          ["transport", "fingerprint", "platform"],
          ["circumstantial_since", "last_delivered_at"].map { "\($0) = \(words.new($0))" }))
  }
  var counts: String {
    numbered(
      """
      UPDATE zonai_jobs SET delivered = delivered + ?, permanently_rejected = permanently_rejected + ?,
      transiently_failed = transiently_failed + ?, expired = expired + ?, pruned = pruned + ?, spared = spared + ?,
      kept = kept + ?, repeated_after_lost_answer = repeated_after_lost_answer + ?, hooks_failed = hooks_failed + ?,
      first_batch = ? WHERE id = ?
      """)
  }

  /// PostgreSQL numbers its placeholders.
  func numbered(_ text: String) -> String {
    guard words.numbersPlaceholders else { return text }
    var number = 0
    return text.split(separator: "?", omittingEmptySubsequences: false).reduce(into: "") { result, part in
      if number > 0 { result += "$\(number)" }
      number += 1
      result += part
    }
  }
}
