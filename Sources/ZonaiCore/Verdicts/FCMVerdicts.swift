/// What an answer of FCM means. Pure, and read in a fixed order: the shape of the body, the detail codes, the field
/// violations, the outer status. `THIRD_PARTY_AUTH_ERROR` comes before 401 and `SENDER_ID_MISMATCH` before 403, since both
/// carry texts that blame somebody else.
public enum FCMVerdicts {
  /// FCM's scaling guide: at least ten seconds before any repeat, a minute after a 429 that names no time.
  /// https://firebase.google.com/docs/cloud-messaging/scale-fcm
  static let retryFloorMilliseconds: Int64 = 10_000
  static let quotaFloorMilliseconds: Int64 = 60_000

  /// `token`, when it is given, is cut out of the verdict's words.
  public static func verdict(for answer: FCMAnswer, token: ArraySlice<UInt8>? = nil) -> Verdict {
    let row = row(for: answer)
    var verdict = row.verdict
    if verdict.outcome == .delivered { return verdict }
    verdict.status = answer.status
    verdict.words = words(of: answer, hiding: token)
    if row.keepsRawReason { verdict.reason = Reason(rawValue: answer.rawReason(hiding: token)) }
    if verdict.fault == .message, let field = answer.offendingField {
      verdict.names = ServiceWords.shortened(field, hiding: token)
    }
    verdict.retryAfterMilliseconds = RetryAfter.milliseconds(answer.retryAfter, date: answer.date)
    if verdict.retry != .never {
      let asksForAMinute = verdict.retryAfterMilliseconds == nil && answer.isAboutQuota
      verdict.retryFloorMilliseconds = asksForAMinute ? quotaFloorMilliseconds : retryFloorMilliseconds
    }
    return verdict
  }

  /// The row of the tables that decides.
  ///
  /// What APNs told FCM (`ApnsError`) is heard only under `INVALID_ARGUMENT` and `UNREGISTERED`; where the two disagree the
  /// weaker evidence counts.
  public static func row(for answer: FCMAnswer) -> VerdictRow<FCMAnswer> {
    let own = rows.first { $0.matches(answer) } ?? anythingElse
    guard own.verdict.evidence != nil || own.verdict.fault == .message, answer.apnsError != nil,
      answer.errorCode == "INVALID_ARGUMENT" || answer.errorCode == "UNREGISTERED"
    else { return own }
    let apple = apnsErrorRows.first { $0.matches(answer) } ?? anythingElse
    // An `INVALID_ARGUMENT` that says nothing more has no say; that it is one has, in the row itself.
    if own.verdict.evidence == .namesNothing { return apple }
    return weight(apple.verdict) > weight(own.verdict) ? apple : own
  }

  /// The more, the weaker; what does not prune is the weakest.
  private static func weight(_ verdict: Verdict) -> Int {
    verdict.evidence.flatMap(Evidence.allCases.firstIndex(of:)) ?? Evidence.allCases.count
  }

  private static func words(of answer: FCMAnswer, hiding token: ArraySlice<UInt8>?) -> String? {
    var parts = [answer.message].compactMap { $0 }
    if let description = answer.violations?.first?.description, description != answer.message {
      parts.append(description)
    }
    if let apple = answer.apnsError {
      let told = [apple.status.map { "\($0)" }, apple.reason].compactMap { $0 }.joined(separator: " ")
      parts.append("(APNs: \(told))")
    }
    return parts.isEmpty ? nil : ServiceWords.shortened(parts.joined(separator: " "), hiding: token)
  }
}
