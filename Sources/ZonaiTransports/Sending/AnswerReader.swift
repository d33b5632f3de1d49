import ZonaiCore
import ZonaiHTTP

/// What a service's answers mean: decodes one and asks the core's table.
protocol AnswerReader: Sendable {
  /// What the body of a delivery begins with. The pool looks at no more of it; of a 200 with another body, the table decides.
  static var acceptedBody: AcceptedBody { get }

  /// The names of the header fields to keep of an answer other than a delivery.
  static var keptFields: [String] { get }

  /// `field` gives one of the kept fields; `token` is cut out of the verdict's words.
  static func verdict(
    status: Int, body: ArraySlice<UInt8>, field: (String) -> String?, token: ArraySlice<UInt8>?
  ) -> Verdict

  /// The credential's fault that the service speaks of as it ends a connection, if it does.
  /// Requests that it hands back with it were refused for the credential.
  static func credentialFault(in goAway: HTTP2GoAway) -> Verdict?
}

enum FCMReader: AnswerReader {
  static let acceptedBody = AcceptedBody.object
  static let keptFields = ["retry-after", "date"]

  static func verdict(
    status: Int, body: ArraySlice<UInt8>, field: (String) -> String?, token: ArraySlice<UInt8>?
  ) -> Verdict {
    let answer = FCMAnswer(status: status, body: body, retryAfter: field("retry-after"), date: field("date"))
    return FCMVerdicts.verdict(for: answer, token: token)
  }

  static func credentialFault(in goAway: HTTP2GoAway) -> Verdict? { nil }
}

enum APNsReader: AnswerReader {
  static let acceptedBody = AcceptedBody.nothing
  static let keptFields = ["retry-after", "date", "apns-id"]

  static func verdict(
    status: Int, body: ArraySlice<UInt8>, field: (String) -> String?, token: ArraySlice<UInt8>?
  ) -> Verdict {
    let answer = APNsAnswer(
      status: status, body: body, hasID: field("apns-id") != nil, retryAfter: field("retry-after"), date: field("date"))
    return APNsVerdicts.verdict(for: answer, token: token)
  }

  /// APNs sends the JSON of an error, about the connection.
  /// https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
  static func credentialFault(in goAway: HTTP2GoAway) -> Verdict? {
    guard !goAway.debugData.isEmpty else { return nil }
    let answer = APNsAnswer(status: 403, body: goAway.debugData[...], hasID: false)
    guard answer.body == .service else { return nil }
    var verdict = APNsVerdicts.verdict(for: answer)
    guard verdict.outcome == .jobFails, verdict.fault == .credentials else { return nil }
    // The status was put in to look the reason up.
    verdict.status = nil
    return verdict
  }
}
