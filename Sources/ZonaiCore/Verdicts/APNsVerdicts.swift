/// What an answer of APNs means. Pure: the reason first, then the status; the status alone only for an empty body that
/// carries `apns-id`, so that an empty 410 of Apple's is a dead token and a proxy's is not.
public enum APNsVerdicts {
  /// `token`, when it is given, is cut out of the verdict's words.
  public static func verdict(for answer: APNsAnswer, token: ArraySlice<UInt8>? = nil) -> Verdict {
    let row = row(for: answer)
    var verdict = row.verdict
    if verdict.outcome == .delivered { return verdict }
    verdict.status = answer.status
    if let reason = answer.reason { verdict.words = ServiceWords.shortened(reason, hiding: token) }
    if row.keepsRawReason { verdict.reason = Reason(rawValue: verdict.words ?? "HTTP \(answer.status)") }
    if verdict.evidence == .conclusive { verdict.deadSince = answer.timestamp }
    verdict.retryAfterMilliseconds = RetryAfter.milliseconds(answer.retryAfter, date: answer.date)
    if verdict.retry != .never, answer.status == 429, verdict.retryAfterMilliseconds == nil {
      verdict.retryFloorMilliseconds = 60_000
    }
    return verdict
  }

  /// The row of the table that decides.
  public static func row(for answer: APNsAnswer) -> VerdictRow<APNsAnswer> {
    rows.first { $0.matches(answer) } ?? anythingElse
  }
}
