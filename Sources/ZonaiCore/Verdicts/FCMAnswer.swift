/// One answer of FCM's HTTP v1 API, decoded: what the verdict table reads, and nothing else.
///
/// Details are found by the end of their `@type` wherever they stand in the list, for their order is not fixed.
public struct FCMAnswer: Sendable, Hashable {
  public var status: Int
  public var body: AnswerBody
  /// `error.status`, such as `NOT_FOUND`.
  public var serviceStatus: String?
  /// `error.message`.
  public var message: String?
  /// `errorCode` of the detail `FcmError`; nil when that detail is missing.
  public var errorCode: String?
  /// The detail `ApnsError`: what APNs told FCM.
  public var apnsError: ApnsError?
  /// The violations of the detail `BadRequest`: nil without that detail, empty when it holds none.
  public var violations: [FieldViolation]?
  /// `reason` of the detail `ErrorInfo`, such as `ACCESS_TOKEN_EXPIRED`.
  public var errorInfoReason: String?
  /// `subject` and `description` of every violation of the detail `QuotaFailure`.
  public var quotaSubjects: [String]
  /// Whether the body has the old shape: an `errors` list and no `details`.
  public var isOldShape: Bool
  /// Whether the message that was sent carried `apns.live_activity_token`: then an `ApnsError` may speak of that token.
  public var messageHasLiveActivityToken: Bool
  /// The header `retry-after`, as it came.
  public var retryAfter: String?
  /// The header `date`, as it came.
  public var date: String?

  /// What APNs answered to FCM.
  public struct ApnsError: Sendable, Hashable {
    /// `statusCode`, or `status_code` as Google's page spells it.
    public var status: Int?
    public var reason: String?

    public init(status: Int?, reason: String?) {
      self.status = status
      self.reason = reason
    }
  }

  public struct FieldViolation: Sendable, Hashable {
    /// Such as `message.token`; nil when the service named none.
    public var field: String?
    public var description: String?

    public init(field: String?, description: String? = nil) {
      self.field = field
      self.description = description
    }
  }

  public init(
    status: Int, body: AnswerBody, serviceStatus: String? = nil, message: String? = nil, errorCode: String? = nil,
    apnsError: ApnsError? = nil, violations: [FieldViolation]? = nil, errorInfoReason: String? = nil,
    quotaSubjects: [String] = [], isOldShape: Bool = false, messageHasLiveActivityToken: Bool = false,
    retryAfter: String? = nil, date: String? = nil
  ) {
    self.status = status
    self.body = body
    self.serviceStatus = serviceStatus
    self.message = message
    self.errorCode = errorCode
    self.apnsError = apnsError
    self.violations = violations
    self.errorInfoReason = errorInfoReason
    self.quotaSubjects = quotaSubjects
    self.isOldShape = isOldShape
    self.messageHasLiveActivityToken = messageHasLiveActivityToken
    self.retryAfter = retryAfter
    self.date = date
  }
}
