/// What an answer of Google's token endpoint means. A refusal speaks about the credential, and about no device.
public enum OAuthVerdicts {
  /// nil when a token was granted. `retry` is what the transport does before it gives up: `invalid_grant` has been seen to
  /// heal, so it is asked for once more, with a new assertion.
  public static func verdict(for answer: GoogleTokenAnswer) -> Verdict? {
    if answer.status == 200, answer.body == .service, answer.error == nil { return nil }
    let row = row(for: answer)
    var verdict = row.verdict
    verdict.status = answer.status
    let words = [answer.error, answer.errorDescription].compactMap { $0 }.joined(separator: ": ")
    verdict.words = words.isEmpty ? nil : ServiceWords.shortened(words)
    if row.keepsRawReason {
      verdict.reason = Reason(rawValue: answer.error.map { ServiceWords.shortened($0) } ?? "HTTP \(answer.status)")
    }
    verdict.retryAfterMilliseconds = RetryAfter.milliseconds(answer.retryAfter, date: answer.date)
    if verdict.retry != .never {
      let isBareQuota = answer.status == 429 && verdict.retryAfterMilliseconds == nil
      verdict.retryFloorMilliseconds =
        isBareQuota ? FCMVerdicts.quotaFloorMilliseconds : FCMVerdicts.retryFloorMilliseconds
    }
    return verdict
  }

  /// The row of the table that decides; only for an answer that grants no token.
  public static func row(for answer: GoogleTokenAnswer) -> VerdictRow<GoogleTokenAnswer> {
    rows.first { $0.matches(answer) } ?? anythingElse
  }

  /// The table, in the order in which it is read.
  public static let rows: [VerdictRow<GoogleTokenAnswer>] = [
    VerdictRow(
      "429, whatever the body", .service("429", slowsLane: true), source: "RFC 6585, section 4", keepsRawReason: true
    ) { $0.status == 429 },
    VerdictRow(
      "408, 421, 425, 499 or 5xx, whatever the body", .service("5xx"), source: "RFC 9110, sections 15.5.9 and 15.6",
      keepsRawReason: true
    ) { $0.status >= 500 || (400...499).contains($0.status) && !PassingStatus.isAboutTheRequest($0.status) },
    VerdictRow(
      "any other status below 500, a body that is not the endpoint's JSON", .foreign(names: "OAuth endpoint"),
      source: "RFC 6749, section 5.2: an error carries JSON"
    ) { $0.body == .other && $0.status < 500 },
    VerdictRow(
      "400 invalid_grant, text speaks of iat and exp",
      .credentials("invalid_grant", names: "this machine's clock", retry: .once),
      source: "google-api-php-client #1501, #1429"
    ) { isRefused($0, "invalid_grant") && $0.errorDescription?.lowercased().contains("iat") ?? false },
    refusal(
      "invalid_grant", "google-cloud-python #10004; google-cloud-php #3622; spring-cloud-gcp #2634", retry: .once),
    refusal("deleted_client", "l5-google-cloud-storage #6"),
    refusal("disabled_client", "RFC 6749, section 5.2, in Google's extension"),
    refusal("invalid_client", "RFC 6749, section 5.2"),
    refusal("unauthorized_client", "RFC 6749, section 5.2"),
    refusal("invalid_scope", "RFC 6749, section 5.2"),
    refusal("invalid_request", "RFC 6749, section 5.2"),
    refusal("unsupported_grant_type", "RFC 6749, section 5.2"),
    refusal("access_denied", "RFC 6749, section 4.1.2.1"),
    anythingElse,
  ]

  private static func refusal(
    _ error: String, _ source: String, retry: Verdict.Retry = .never
  ) -> VerdictRow<GoogleTokenAnswer> {
    VerdictRow(
      "4xx \(error)", .credentials(Reason(rawValue: error), names: "fcm.serviceAccount", retry: retry), source: source
    ) { isRefused($0, error) }
  }

  private static func isRefused(_ answer: GoogleTokenAnswer, _ error: String) -> Bool {
    answer.error == error && (400...499).contains(answer.status)
  }

  static let anythingElse = VerdictRow<GoogleTokenAnswer>(
    "anything else, an empty body included", .service("unknown"), source: "documented nowhere",
    narrower: "it refuses no known credential, and nothing was sent: the endpoint is asked again", keepsRawReason: true
  ) { _ in true }
}
