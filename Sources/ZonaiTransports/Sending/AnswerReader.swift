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
}
