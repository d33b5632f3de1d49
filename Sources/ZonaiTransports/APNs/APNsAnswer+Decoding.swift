import ZonaiCore
import ZonaiJSON

extension APNsAnswer {
  /// Reads an answer. A delivery has no body.
  init(
    status: Int, body: some Collection<UInt8>, hasID: Bool, retryAfter: String? = nil, date: String? = nil
  ) {
    self.init(status: status, body: .empty, hasID: hasID, retryAfter: retryAfter, date: date)
    if body.isEmpty { return }
    guard let parsed = try? JSON(parsing: body), let reason = parsed["reason"]?.string else {
      self.body = .other
      return
    }
    self.body = .service
    self.reason = reason
    timestamp = parsed["timestamp"]?.integer
  }
}
