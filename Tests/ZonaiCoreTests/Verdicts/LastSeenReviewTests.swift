import Testing

@testable import ZonaiCore

struct LastSeenReviewTests {
  private static let now: Int64 = 1_790_848_800_000
  private static let hour: Int64 = 3_600_000

  private func notes(_ values: [Value]) -> [JobNote] {
    LastSeenReview.notes(values, of: "seen", in: "devices", now: Self.now)
  }

  private func codes(_ values: [Value]) -> [JobNote.Code] { notes(values).map(\.code) }

  /// Registrations every minute up to so many milliseconds ago.
  private func values(_ delay: Int64, count: Int = 200) -> [Value] {
    (0..<Int64(count)).map { .integer(Self.now - delay - $0 * 60_000) }
  }

  @Test func `times that are as they should be give no note`() {
    #expect(notes([]) == [])
    #expect(notes([.null, .null]) == [])
    #expect(notes(values(5000)) == [])
    // Today's date may end in the future without lying there, and clocks differ.
    #expect(notes([.text("2026-10-01")]) == [])
    #expect(notes([.integer(Self.now + 240_000)]) == [])
  }

  @Test func `local time east of Greenwich lies in the future`() {
    let notes = notes(values(-2 * Self.hour))
    #expect(notes.map(\.code) == [.lastSeenInFuture])
    #expect(
      notes.first?.sentence.hasPrefix("115 of 200 values of devices.seen lie in the future, the newest by 2 h: ")
        == true)
  }

  @Test func `local time west of Greenwich is hours behind while devices register all the time`() {
    #expect(codes(values(5 * Self.hour)) == [.lastSeenBehind])
    #expect(notes(values(5 * Self.hour)).first?.sentence.contains(" and are 5 h old: ") == true)
    // A service with few registrations, rows made at one moment, and one that is not used any more
    // tell nothing.
    #expect(notes((0..<200).map { .integer(Self.now - 5 * Self.hour - $0 * Self.hour) }) == [])
    #expect(notes(Array(repeating: .integer(Self.now - 5 * Self.hour), count: 200)) == [])
    #expect(notes(values(20 * Self.hour)) == [])
    #expect(notes(values(5 * Self.hour, count: 9)) == [])
  }

  @Test func `values that cannot be read are counted`() {
    let notes = notes(values(0) + [.text(""), .text("soon"), .null, .boolean(true)])
    #expect(notes.map(\.code) == [.lastSeenUnreadable])
    #expect(notes.first?.sentence.hasPrefix("3 of 203 values of devices.seen cannot be read") == true)
  }

  // MARK: What a job's account shows

  private func job(_ lines: [(TallyLine.Outcome, String, Int)], lastSeen: String? = "updated_at") -> Job {
    let group = Group(transport: .apns, fingerprint: "topic", platform: Platform("ios"))
    return Job(
      id: JobID("job"),
      definition: JobDefinition(
        message: PushMessage(title: "Hello"), audience: Audience("devices", token: "token", lastSeen: lastSeen),
        policy: .clearColumn, routes: Routes(apple: .apns, android: nil, unknown: nil)),
      state: .completed,
      tally: lines.map { TallyLine(group: group, outcome: $0, reason: "Unregistered", detail: $1, count: $2) },
      createdAt: 0, dueAt: 0)
  }

  @Test func `a column that changes with every update of the row is told from a time of registration`() {
    let moved = LaterLastSeen.byAMonthOrMore.sentence
    #expect(job([(.delivered, "", 29), (.transientlyFailed, moved, 1)]).advice.map(\.code) == [.lastSeenMoves])
    #expect(
      job([
        (.pruned, "", 2), (.transientlyFailed, moved, 2),
        (.transientlyFailed, LaterLastSeen.byLessThanAMonth.sentence, 1),
      ])
      .advice.first?.sentence.hasPrefix("3 of 5 rows") == true)
    #expect(job([(.pruned, "", 2), (.transientlyFailed, moved, 2)]).advice == [])
    #expect(job([(.transientlyFailed, LaterLastSeen.byLessThanADay.sentence, 5)]).advice == [])
    #expect(job([(.transientlyFailed, LaterLastSeen.unreadable.sentence, 5)]).advice == [])
    #expect(job([(.transientlyFailed, "another", 5)]).advice == [])
  }
}
