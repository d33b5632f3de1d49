import ZonaiCore
import ZonaiJSON

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

  /// What it means coming from FCM. A delivery carries the message's name.
  public var fcmVerdict: Verdict {
    guard status == 200 else { return read(by: FCMReader.self) }
    let isFCMs = (try? JSON(parsing: body))?["name"]?.string != nil
    let answer = FCMAnswer(status: status, body: isFCMs ? .service : body.isEmpty ? .empty : .other)
    return FCMVerdicts.verdict(for: answer)
  }

  /// What it means coming from APNs, whose deliveries have no body.
  public var apnsVerdict: Verdict { status == 200 ? .delivered : read(by: APNsReader.self) }

  private func read(by reader: (some AnswerReader).Type) -> Verdict {
    reader.verdict(status: status, body: body[...], field: { headers[$0] }, token: nil)
  }
}
