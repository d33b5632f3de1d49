/// What becomes of a verdict when more is known than the answer.
extension Verdict {
  /// The verdict as the engine takes it: a rejection without evidence, or about anything but the
  /// recipient, proves nothing. It counts as an answer that Zonai does not know.
  var proven: Verdict {
    guard outcome == .permanentlyRejected, evidence == nil || fault != .recipient else { return self }
    var verdict = self
    verdict.outcome = .transientlyFailed
    verdict.fault = .unknown
    verdict.evidence = nil
    verdict.retry = .once
    return verdict
  }

  /// The verdict for a row whose token was registered at that time: a death that is older than the registration is not this
  /// registration's death, and a time that cannot be read (nil) keeps the row.
  ///
  /// It changes only a rejection that says since when the token is dead. Equal times keep nothing.
  public func consideringLastSeen(_ milliseconds: Int64?) -> Verdict {
    guard outcome == .permanentlyRejected, let deadSince else { return self }
    if let milliseconds, milliseconds <= deadSince { return self }
    var verdict = keptRow
    verdict.names = nil
    verdict.words = LaterLastSeen(lastSeen: milliseconds, deadSince: deadSince).sentence
    return verdict
  }

  /// The same for a column's value as it was read; nil when the audience names no last-seen column. NULL says nothing about
  /// a registration, so it keeps no row.
  public func considering(lastSeen value: Value?) -> Verdict {
    guard let value, !value.isNull, deadSince != nil else { return self }
    return consideringLastSeen(LastSeen.milliseconds(value))
  }

  /// The verdict for a token that fills its column to the end: if the service calls it malformed,
  /// the column has cut it off, and the device is alive.
  func considering(_ column: ColumnDescription?, of table: TableName, token: ArraySlice<UInt8>) -> Verdict {
    guard outcome == .permanentlyRejected, let column, let capacity = column.capacity,
      evidence == .tokenNamed || reason == "BadDeviceToken", column.cutsOff(token)
    else { return self }
    var verdict = keptRow
    verdict.fault = .configuration
    verdict.reason = .tokenCutOff
    verdict.names = "\(table).\(column.name)"
    verdict.words =
      "the column of type \(column.shortType) holds \(capacity), and tokens with exactly as many were cut off: widen it"
    return verdict
  }

  /// The verdict when no witness stands by: circumstantial evidence then prunes nobody, and the answer counts as transient.
  public var withoutWitness: Verdict {
    guard outcome == .permanentlyRejected, evidence?.isCircumstantial ?? true || fault != .recipient else {
      return self
    }
    return keptRow
  }

  private var keptRow: Verdict {
    var verdict = self
    verdict.outcome = .transientlyFailed
    verdict.evidence = nil
    verdict.retry = .never
    return verdict
  }
}
