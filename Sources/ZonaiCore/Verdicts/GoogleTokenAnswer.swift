/// One answer of Google's OAuth token endpoint, decoded.
public struct GoogleTokenAnswer: Sendable, Hashable {
  public var status: Int
  public var body: AnswerBody
  /// Such as `invalid_grant`.
  public var error: String?
  /// `error_description`, for a person.
  public var errorDescription: String?
  /// The header `retry-after`, as it came.
  public var retryAfter: String?
  /// The header `date`, as it came.
  public var date: String?

  public init(
    status: Int, body: AnswerBody, error: String? = nil, errorDescription: String? = nil, retryAfter: String? = nil,
    date: String? = nil
  ) {
    self.status = status
    self.body = body
    self.error = error
    self.errorDescription = errorDescription
    self.retryAfter = retryAfter
    self.date = date
  }
}
