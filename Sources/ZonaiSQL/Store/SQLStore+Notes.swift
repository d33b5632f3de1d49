import Synchronization
import ZonaiCore
import ZonaiThreads

/// What there is to note about an audience's table.
extension SQLStore {
  /// From a thousand rows, found by the key's index from its end: cheap on any table, and the
  /// newest rows where keys rise.
  func notes(on plan: JobPlan, _ connection: Driver.Connection) throws(StoreError) -> [JobNote] {
    guard let lastSeen = plan.target.lastSeen else { return [] }
    var builder = SQLBuilder(dialect)
    builder.append("SELECT ")
    builder.identifier(lastSeen)
    builder.append(" FROM ")
    dialect.appendTable(plan.target, to: &builder)
    builder.append(" ORDER BY ")
    builder.list(plan.target.key) {
      $1.identifier($0)
      $1.append(" DESC")
    }
    builder.append(" LIMIT ")
    builder.bind(.integer(Int64(LastSeenReview.rows)))
    let values = try connection.all(builder.statement()) { row throws(StoreError) in row.value(0) }
    return LastSeenReview.notes(values, of: lastSeen.name, in: plan.target.table, now: try now(connection))
  }

  /// The same, looked up once in a while for each table: many jobs may have one recipient each.
  func knownNotes(on plan: JobPlan, _ connection: Driver.Connection) throws(StoreError) -> [JobNote] {
    guard let lastSeen = plan.target.lastSeen else { return [] }
    let name = ([plan.target.table.description, lastSeen.name] + plan.target.key.map(\.name)).joined(separator: "\n")
    if let known = knownNotes[name] { return known }
    let notes = try notes(on: plan, connection)
    knownNotes.keep(notes, for: name)
    return notes
  }
}

/// Notes on tables that were looked at a short time ago.
final class KnownNotes: Sendable {
  private static let validMilliseconds: Int64 = 600_000
  private static let capacity = 64

  private let notes = Mutex<[String: (notes: [JobNote], until: Int64)]>([:])

  subscript(table: String) -> [JobNote]? {
    notes.withLock { notes in
      guard let known = notes[table], known.until > MonotonicClock.milliseconds() else { return nil }
      return known.notes
    }
  }

  func keep(_ found: [JobNote], for table: String) {
    notes.withLock { notes in
      if notes.count >= KnownNotes.capacity { notes = [:] }
      notes[table] = (found, MonotonicClock.milliseconds() + KnownNotes.validMilliseconds)
    }
  }
}
