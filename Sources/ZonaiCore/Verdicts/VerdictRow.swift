/// One row of a verdict table: an answer, what it means, and who says so.
///
/// A table is read from top to bottom, and the first row that matches counts. `docs/dead-tokens.md` shows the tables as they
/// stand here.
public struct VerdictRow<Answer>: Sendable {
  /// The answer, in the service's words: `404, FcmError UNREGISTERED`.
  public let answer: String
  /// What it means when a witness stands by. An answer's own details (words, times, field) are added to it.
  public let verdict: Verdict
  /// Who says so: the service's page, or a public report.
  public let source: String
  /// Where Zonai does less than the service's page allows, and why; nil where it follows the page.
  public let narrower: String?
  /// Whether the verdict carries the answer's raw reason instead of the row's.
  let keepsRawReason: Bool
  let matches: @Sendable (Answer) -> Bool

  init(
    _ answer: String, _ verdict: Verdict, source: String, narrower: String? = nil, keepsRawReason: Bool = false,
    matches: @escaping @Sendable (Answer) -> Bool
  ) {
    self.answer = answer
    self.verdict = verdict
    self.source = source
    self.narrower = narrower
    self.keepsRawReason = keepsRawReason
    self.matches = matches
  }
}
