/// What is set in every session, so that values read in one come back the same in another, whatever the server, the
/// database and the role prefer.
enum PostgresSession {
  private static let settings: [(name: StaticString, value: StaticString, since: Int32)] = [
    // How moments, intervals, numbers and bytes are written as text.
    ("TimeZone", "'UTC'", 0), ("DateStyle", "'ISO, YMD'", 0), ("IntervalStyle", "'postgres'", 0),
    ("extra_float_digits", "3", 0), ("bytea_output", "'hex'", 0),
    ("standard_conforming_strings", "on", 0), ("transform_null_equals", "off", 0),
    // Pages and prunes go by the key's index, whatever the statistics promise of another way: a page must cost the same at
    // the end of a table as at its beginning. What reads a whole table says so.
    ("enable_seqscan", "off", 0), ("enable_bitmapscan", "off", 0), ("enable_sort", "off", 0),
    ("enable_incremental_sort", "off", 130_000),
    // A worker that is paused in the middle of a transaction must not keep the others from a job's row.
    ("idle_in_transaction_session_timeout", "'10s'", 0),
    // Compiling costs more than any of these statements.
    ("jit", "off", 0), ("max_parallel_workers_per_gather", "0", 0),
  ]

  /// For statements that read a table whole.
  static let wholeTable = """
    SET LOCAL enable_seqscan TO on; SET LOCAL enable_bitmapscan TO on; SET LOCAL enable_sort TO on
    """

  /// The statements that set it all; `isLocal` for one transaction.
  static func text(version: Int32, isLocal: Bool) -> String {
    var parts: [String] = []
    for setting in settings where version >= setting.since {
      parts.append("SET \(isLocal ? "LOCAL " : "")\(setting.name) TO \(setting.value)")
    }
    // Commits survive a power cut; a stricter setting stays.
    parts.append(
      """
      SELECT set_config('synchronous_commit', 'on', \(isLocal))
      WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
      """)
    // A list of a hundred thousand values is hashed only where it fits: else each row would be compared with all of them.
    parts.append(
      """
      SELECT set_config('work_mem', '64MB', \(isLocal))
      WHERE pg_size_bytes(current_setting('work_mem')) < 67108864
      """)
    return parts.joined(separator: "; ")
  }
}
