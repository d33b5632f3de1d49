import Synchronization
import ZonaiCore

/// What a paging company's client offers: one page a call.
protocol PagerGateway: Sendable {
  /// Throws `GatewayFailure` when no answer came.
  func page(_ number: ArraySlice<UInt8>, _ text: String, expiresAt: Int64?) async throws(GatewayFailure)
    -> GatewayAnswer
  /// Ends the calls that are open, as after a lost line.
  func hangUp() async
}

enum GatewayAnswer: Sendable { case sent, noSuchPager, pagerBusy, gatewayBusy, badPassword, badText, other(Int) }
enum GatewayFailure: Error { case noLine, lineLost, noAnswer, notTaken }

/// Sends pages through a gateway, one after the other.
final class PagerTransport: Transport {
  let lane = Lane(
    identity: LaneIdentity(TransportName(rawValue: "pager"), account: "0815", host: "pager.example"),
    fingerprint: "pager.example 0815")
  private let gateway: any PagerGateway
  private let order = Atomic<UInt64>(0)
  private let isClosed = Atomic<Bool>(false)
  private static let limit = 240

  init(gateway: any PagerGateway) { self.gateway = gateway }

  func prepare(_ message: PushMessage) throws(MessageFault) -> PreparedMessage {
    let text = [message.title, message.body].compactMap(\.self).joined(separator: ": ")
    let size = text.utf8.count
    guard size <= Self.limit else {
      throw MessageFault(field: "body", "A page holds \(Self.limit) bytes and this one has \(size): shorten the body.")
    }
    return PreparedMessage(fingerprint: lane.fingerprint, size: size, limit: Self.limit, content: text)
  }

  func send(_ batch: PushBatch, _ answered: @escaping @Sendable (AnswerChunk) -> Void) async -> SendEnd {
    guard let text = batch.message.content as? String else { return SendEnd() }
    for index in batch.selection {
      // Looked at before each request: another worker may own the batch by now.
      guard batch.permit.allows(at: SendPermit.now), !Task.isCancelled, !isClosed.load(ordering: .acquiring) else {
        break
      }
      let number = order.add(1, ordering: .relaxed).newValue
      let sent = PushAnswer.Sent(order: number, credential: 1)
      let verdict = await page(batch.tokens[index], text, batch.expiresAt)
      let answer = verdict.outcome == .delivered ? PushAnswer.delivered(sent) : .answered(verdict, sent)
      answered(AnswerChunk(indexes: [index], answers: [answer]))
      // The whole lane or the message is meant: the other recipients are left alone.
      if verdict.outcome == .jobFails { break }
    }
    return SendEnd()
  }

  func close() async {
    isClosed.store(true, ordering: .releasing)
    await gateway.hangUp()
  }

  private func page(_ number: ArraySlice<UInt8>, _ text: String, _ expiresAt: Int64?) async -> Verdict {
    do {
      return PagerVerdicts.verdict(for: try await gateway.page(number, text, expiresAt: expiresAt))
    } catch {
      return PagerVerdicts.verdict(for: error)
    }
  }
}

/// What each answer means. One row an answer, no I/O, no clock; what is not known is transient.
enum PagerVerdicts {
  static func verdict(for answer: GatewayAnswer) -> Verdict {
    switch answer {
    case .sent: .delivered
    // The company's manual: the number was given back and will not be used again.
    case .noSuchPager:
      Verdict(.permanentlyRejected, fault: .recipient, evidence: .conclusive, reason: "noSuchPager")
    case .pagerBusy: Verdict(.transientlyFailed, fault: .recipient, retry: .attempts, reason: "pagerBusy")
    case .gatewayBusy: Verdict(.transientlyFailed, fault: .service, retry: .attempts, reason: "gatewayBusy")
    case .badPassword: Verdict(.jobFails, fault: .credentials, reason: "badPassword", names: "pager.password")
    case .badText: Verdict(.jobFails, fault: .message, reason: "badText", names: "body")
    case .other(let status):
      Verdict(.transientlyFailed, fault: .unknown, retry: .once, reason: "unknown", status: status)
    }
  }

  static func verdict(for failure: GatewayFailure) -> Verdict {
    switch failure {
    case .noLine: Verdict(.transientlyFailed, fault: .connection, retry: .attempts, reason: .cannotConnect)
    // These two may have reached the pager: Zonai counts them before it tries again.
    case .lineLost:
      Verdict(.transientlyFailed, fault: .service, retry: .attempts, reason: .answerLost, answerMayBeLost: true)
    case .noAnswer:
      Verdict(.transientlyFailed, fault: .service, retry: .attempts, reason: .timedOut, answerMayBeLost: true)
    // This one surely has not.
    case .notTaken: Verdict(.transientlyFailed, fault: .connection, retry: .free, reason: .notHandled)
    }
  }
}
