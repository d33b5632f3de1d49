import ZonaiCore
import ZonaiHTTP
import ZonaiJSON

extension FCMAnswer {
  /// Reads an answer. Details are found by the end of their `@type`, wherever they stand.
  init(status: Int, body: some Collection<UInt8>, retryAfter: String? = nil, date: String? = nil) {
    self.init(status: status, body: .empty, retryAfter: retryAfter, date: date)
    if body.isEmpty { return }
    if status == 200 {
      // A delivery carries the message's name.
      self.body = (try? JSON(parsing: body))?["name"]?.string == nil ? .other : .service
      return
    }
    guard let error = (try? JSON(parsing: body))?["error"], FCMAnswer.isGoogles(error) else {
      // What was cut off is still FCM's own when it begins like it.
      self.body = body.isCutOff && body.begins(with: #"{"error""#) ? .service : .other
      return
    }
    self.body = .service
    serviceStatus = error["status"]?.string
    message = error["message"]?.string
    let details = error["details"]?.array
    isOldShape = details == nil && error["errors"]?.array != nil
    for detail in details ?? [] { read(detail) }
  }

  /// Whether an `error` object is one of Google's, old shape or new. Gateways of other makers write
  /// a code and a message only.
  private static func isGoogles(_ error: JSON) -> Bool {
    error["status"]?.string != nil || error["details"]?.array != nil || error["errors"]?.array != nil
  }

  private mutating func read(_ detail: JSON) {
    guard let type = detail["@type"]?.string else { return }
    if type.hasSuffix("FcmError") {
      errorCode = errorCode ?? detail["errorCode"]?.string
    } else if type.hasSuffix("ApnsError") {
      // Google's page has `status_code`, the wire `statusCode`.
      let status = detail["statusCode"]?.integer ?? detail["status_code"]?.integer
      apnsError = apnsError ?? ApnsError(status: status.map { Int($0) }, reason: detail["reason"]?.string)
    } else if type.hasSuffix("BadRequest") {
      let named = detail["fieldViolations"]?.array ?? []
      let read = named.map {
        FieldViolation(field: $0["field"]?.string, description: $0["description"]?.string)
      }
      violations = (violations ?? []) + read
    } else if type.hasSuffix("ErrorInfo") {
      errorInfoReason = errorInfoReason ?? detail["reason"]?.string
    } else if type.hasSuffix("QuotaFailure") {
      for violation in detail["violations"]?.array ?? [] {
        quotaSubjects += [violation["subject"]?.string, violation["description"]?.string].compactMap { $0 }
      }
    }
  }
}

extension Collection<UInt8> {
  /// Whether the pool kept only the beginning of the body.
  fileprivate var isCutOff: Bool { count >= 4096 }

  /// Whether the bytes begin with this text, white space aside.
  fileprivate func begins(with text: String) -> Bool {
    let dense = lazy.filter { $0 != 0x20 && $0 != 0x0a && $0 != 0x0d && $0 != 0x09 }
    return dense.prefix(text.utf8.count).elementsEqual(text.utf8)
  }
}
