/// Something about a job's table that an operator should look at. The job runs all the same.
public struct JobNote: Sendable, Hashable, Codable, CustomStringConvertible {
  public struct Code: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// Values of the last-seen column lie in the future: local time, probably, or another kind of
    /// date.
    public static let lastSeenInFuture: Code = "lastSeenInFuture"
    /// Devices register all the time, and the newest value of the last-seen column is hours old:
    /// local time, probably.
    public static let lastSeenBehind: Code = "lastSeenBehind"
    /// Values of the last-seen column cannot be read as a time.
    public static let lastSeenUnreadable: Code = "lastSeenUnreadable"
    /// Most tokens that APNs called dead were last seen more than a day after that.
    public static let lastSeenMoves: Code = "lastSeenMoves"
    /// Tokens fill their column to the end.
    public static let tokensCutOff: Code = "tokensCutOff"
  }

  public var code: Code
  /// What was found, and what to do about it.
  public var sentence: String

  public init(_ code: Code, _ sentence: String) {
    self.code = code
    self.sentence = sentence
  }

  public var description: String { "\(code.rawValue): \(sentence)" }
}

extension JobNote {
  /// What so many tokens mean that fill the column to the end; nil for none of them.
  package static func tokensCutOff(_ count: Int, of column: ColumnDescription, in table: TableName) -> JobNote? {
    guard count > 0, let capacity = column.capacity else { return nil }
    return JobNote(
      .tokensCutOff,
      "\(count) of the tokens have exactly the \(capacity) that \(table).\(column.name) of type \(column.shortType) holds: if "
        + "they were cut off, no message reaches them; widen the column")
  }
}

extension Job {
  /// The notes on the job's table, and what its account shows by now.
  public var advice: [JobNote] { notes + [movingLastSeen].compactMap { $0 } }

  /// A token that is alive when its row is seen answers no death of an earlier day: then the column
  /// tells something else.
  private var movingLastSeen: JobNote? {
    guard let lastSeen = definition.audience.lastSeen else { return nil }
    let steps = Dictionary(uniqueKeysWithValues: LaterLastSeen.allCases.map { ($0.sentence, $0) })
    var dead = 0
    var later = 0
    for line in tally {
      let step = steps[line.detail]
      if line.outcome.isRejection && line.group.transport == .apns || step != nil { dead += line.count }
      if step == .byLessThanAMonth || step == .byAMonthOrMore { later += line.count }
    }
    guard later > 0, later * 2 > dead else { return nil }
    return JobNote(
      .lastSeenMoves,
      "\(later) of \(dead) rows whose tokens APNs called dead were kept, since their \(lastSeen) is later than the death by a "
        + "day or more: it seems to change with other updates of the row; name a column that is written only when the token "
        + "is registered")
  }
}
