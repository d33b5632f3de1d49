import ZonaiCore

/// One answer of FCM or APNs that somebody holds in hand, such as a line of a log: read as the transports read theirs.
public struct AnswerInHand: Sendable, Hashable {
  public var status: Int
  /// Names in lower case.
  public var headers: [String: String]
  public var body: [UInt8]

  public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// What it means coming from FCM.
  public var fcmVerdict: Verdict { read(by: FCMReader.self) }

  /// What it means coming from APNs.
  public var apnsVerdict: Verdict { read(by: APNsReader.self) }

  private func read(by reader: (some AnswerReader).Type) -> Verdict {
    reader.verdict(status: status, body: body[...], field: { headers[$0] }, token: nil)
  }
}
