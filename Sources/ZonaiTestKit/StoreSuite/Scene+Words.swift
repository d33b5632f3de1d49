import ZonaiCore

/// Short words for the values that checks are made of.
extension TableSketch {
  static let devices = TableSketch(
    "devices",
    columns: [
      ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .text), ColumnSketch("platform", .text),
      ColumnSketch("seen", .timestamp), ColumnSketch("city", .text), ColumnSketch("age", .integer),
    ], primaryKey: ["id"])

  /// When the usual devices were last seen.
  static let seen: Int64 = 1_600_000_000_000

  static func device(_ id: Int64, token: String?, _ others: [String: Value] = [:]) -> [String: Value] {
    let row: [String: Value] = [
      "id": .integer(id), "token": token.map { .text($0) } ?? .null, "platform": "android", "seen": .integer(seen),
    ]
    return row.merging(others) { $1 }
  }
}

extension Audience {
  static let devices = Audience("devices", token: "token", platform: .column("platform"))
  static let devicesLastSeen = Audience(
    "devices", token: "token", platform: .column("platform"), lastSeen: "seen")

  static func devices(where predicate: Predicate) -> Audience {
    Audience("devices", token: "token", platform: .column("platform"), where: predicate)
  }
}

extension Group {
  static let android = Group(transport: .fcm, fingerprint: "project", platform: Platform("android"))
  static let ios = Group(transport: .fcm, fingerprint: "project", platform: Platform("ios"))
  static let elsewhere = Group(transport: .fcm, fingerprint: "another project", platform: Platform("android"))
}

extension ClaimedBatch {
  var all: [(key: RowKey, token: String)] {
    (0..<recipients.count).map { (recipients.keys[$0], recipients.tokens.token($0).text) }
  }
  var keys: [RowKey] { all.map(\.key) }
  var tokens: [String] { all.map(\.token) }
  /// Keys of one integer column.
  var ids: [Int64] { keys.map(\.id) }

  /// Everybody was delivered to, except these.
  func delivered(but others: [Int] = [], to group: Group = .android) -> BatchAnswers {
    let count = recipients.count - others.count
    return BatchAnswers(
      lease: lease,
      tally: count == 0 ? [] : [TallyLine(group: group, outcome: .delivered, reason: "delivered", count: count)])
  }

  /// Everybody is owed, from so many milliseconds on.
  func givenBack(after milliseconds: Int64 = 0, failure: JobFailure? = nil) -> BatchAnswers {
    BatchAnswers(
      lease: lease, owed: keys.map { OwedRecipient(key: $0, attempts: 1, notBefore: milliseconds) }, failure: failure)
  }

  func rejection(_ index: Int, evidence: Evidence = .conclusive, group: Group = .android) -> Rejection {
    Rejection(
      eventID: "event-\(lease.batch)-\(lease.fence)-\(index)", key: recipients.keys[index],
      token: recipients.tokens.token(index), lastSeen: recipients.lastSeen(index), group: group, evidence: evidence,
      reason: "UNREGISTERED", status: 404, words: "not \"registered\"", deadSince: nil)
  }

  /// An answer that may be about the message or the lane; the recipient stays owed if the guard
  /// says so.
  func circumstantial(
    _ index: Int, _ evidence: Evidence = .tokenNamed, group: Group = .android, keptBecause: String? = nil
  ) -> CircumstantialRejection {
    CircumstantialRejection(
      rejection: rejection(index, evidence: evidence, group: group),
      owed: OwedRecipient(
        key: recipients.keys[index], suspectOf: group, tokenDigest: DeviceToken.digest(recipients.tokens[index])),
      keptBecause: keptBecause)
  }

  func prunes(_ rejections: [Rejection], _ decision: BatchPrunes.Decision = .followPolicy) -> BatchPrunes {
    BatchPrunes(lease: lease, decisions: rejections.map { ($0, decision) })
  }
}

extension RowKey {
  var id: Int64 { if case .integer(let id) = values.first { id } else { .min } }

  /// The key as text that tells apart what Swift's `==` takes for one.
  var exact: String {
    values.map { value in
      if case .text(let text) = value { "t" + Array(text.utf8).hex } else { "\(value)" }
    }.joined(separator: ",")
  }
}

extension ClaimResult {
  var word: String {
    switch self {
    case .batch(let batch): "a batch of \(batch.recipients.count)"
    case .ended(let job): "the end of job \(job.id), \(job.state.rawValue)"
    case .contended: "contended"
    case .nothing(let idle): "nothing to do, \(idle)"
    }
  }
}

extension JobFailure {
  static let example = JobFailure(.credentials, "the service does not accept the key: replace it")
  static let other = JobFailure(.message, "the message is too long")
}

/// Runs something that must be refused with this code.
func expectRefusal(
  _ code: StoreError.Code, _ what: String, file: StaticString = #fileID, line: UInt = #line,
  _ body: () async throws -> Void
) async throws {
  do {
    try await body()
  } catch let error as StoreError {
    try expect(error.code.rawValue, is: code.rawValue, "the code of the refusal of \(what)", file: file, line: line)
    try expect(!error.sentence.isEmpty, "a sentence in the refusal of \(what)", file: file, line: line)
    return
  }
  throw CheckFailure(expected: "\(what) to be refused as \(code.rawValue)", found: "accepted", file: file, line: line)
}
