/// What a look at some values of a last-seen column shows: whether they can be the times of
/// registrations, in UTC.
package enum LastSeenReview {
  /// How many rows are looked at, those with the greatest keys.
  package static let rows = 1000
  /// How far ahead of the store's clock a value may be, in milliseconds: clocks differ.
  private static let tolerance: Int64 = 300_000

  /// `now` is the store's time, in milliseconds since 1970.
  package static func notes(_ values: [Value], of column: String, in table: TableName, now: Int64) -> [JobNote] {
    let written = values.filter { !$0.isNull }
    let moments = written.compactMap { LastSeen.moments($0) }.sorted { $0.lowerBound > $1.lowerBound }
    let name = "\(table).\(column)"
    var notes: [JobNote] = []
    let ahead = moments.prefix { $0.lowerBound > now + tolerance }
    if let newest = ahead.first {
      notes.append(
        JobNote(
          .lastSeenInFuture,
          "\(ahead.count) of \(written.count) values of \(name) lie in the future, the newest by "
            + "\(amount(newest.lowerBound - now)): if it holds local time, write UTC, or an offset with it; dead tokens of such "
            + "rows are kept"))
    } else if let behind = delay(of: moments, now: now) {
      notes.append(
        JobNote(
          .lastSeenBehind,
          "the newest values of \(name) follow each other closely and are \(amount(behind)) old: if it holds local time, write "
            + "UTC, or an offset with it, or devices that came back lose their tokens"))
    }
    let unreadable = written.count - moments.count
    if unreadable > 0 {
      notes.append(
        JobNote(
          .lastSeenUnreadable,
          "\(unreadable) of \(written.count) values of \(name) cannot be read as a time: such rows keep their tokens when APNs "
            + "says since when they are dead"))
    }
    return notes
  }

  /// By how much the newest values are behind, if devices register so often that the newest of all
  /// should be newer: ten of them within a tenth of that time. At most 14 hours, as the zones are.
  private static func delay(of moments: [ClosedRange<Int64>], now: Int64) -> Int64? {
    var latest: [Int64] = []
    for moment in moments where latest.count < 10 && latest.last != moment.upperBound {
      latest.append(moment.upperBound)
    }
    guard latest.count == 10 else { return nil }
    let delay = now - latest[0]
    guard delay >= 45 * 60_000, delay <= 14 * 3_600_000, latest[0] - latest[9] <= delay / 10 else { return nil }
    return delay
  }

  private static func amount(_ milliseconds: Int64) -> String {
    let minutes = (milliseconds + 30_000) / 60_000
    if minutes < 60 { return "\(minutes) minutes" }
    let hours = minutes / 60
    if hours < 48 { return "\(hours) h" + (minutes % 60 == 0 ? "" : " \(minutes % 60) min") }
    return "\(hours / 24) days"
  }
}
