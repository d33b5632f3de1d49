import Synchronization
import ZonaiCore
import ZonaiTestKit

/// One mistake that a transport can make, as what it does in place of the sound transport beneath it.
struct TransportFlaw: Sendable {
  let name: String
  var prepare: (@Sendable (ScriptedTransport, PushMessage) throws(MessageFault) -> PreparedMessage)?
  var send: (@Sendable (ScriptedTransport, PushBatch) async -> PushBatchResult)?
  var close: (@Sendable (ScriptedTransport) async -> Void)?
  /// In place of `send`, once it was closed.
  var sendClosed: (@Sendable (ScriptedTransport, PushBatch) async -> PushBatchResult)?

  init(_ name: String, _ break: (inout TransportFlaw) -> Void) {
    self.name = name
    `break`(&self)
  }

  /// Changes what a send gives.
  static func onResult(
    _ name: String, _ change: @escaping @Sendable (inout PushBatchResult, PushBatch) -> Void
  ) -> TransportFlaw {
    TransportFlaw(name) { flaw in
      flaw.send = { transport, batch in
        var result = await transport.send(batch)
        change(&result, batch)
        return result
      }
    }
  }

  /// Changes what a send is asked.
  static func onBatch(
    _ name: String, _ change: @escaping @Sendable (ScriptedTransport, PushBatch) -> PushBatch
  ) -> TransportFlaw {
    TransportFlaw(name) { flaw in flaw.send = { transport, batch in await transport.send(change(transport, batch)) } }
  }

  /// Changes the verdicts that a send gives.
  static func onVerdict(_ name: String, _ change: @escaping @Sendable (inout Verdict, DeviceToken) -> Void)
    -> TransportFlaw
  {
    onResult(name) { result, batch in
      for index in result.answers.indices {
        guard case .answered(var verdict, let sent) = result.answers[index] else { continue }
        change(&verdict, batch.tokens.token(batch.selection[index]))
        result.answers[index] = .answered(verdict, sent)
      }
    }
  }

  /// Sends once more to those whose answer is like this.
  static func resending(
    _ name: String, telling isTold: Bool = true, _ isResent: @escaping @Sendable (PushAnswer) -> Bool
  ) -> TransportFlaw {
    TransportFlaw(name) { flaw in
      flaw.send = { transport, batch in
        var result = await transport.send(batch)
        let again = result.answers.indices.filter { isResent(result.answers[$0]) }
        guard !again.isEmpty else { return result }
        let second = await transport.send(batch.with(selection: again.map { batch.selection[$0] }))
        if isTold {
          for (index, answer) in zip(again, second.answers) { result.answers[index] = answer }
        }
        return result
      }
    }
  }
}

extension PushBatch {
  func with(
    selection: [Int]? = nil, permit: SendPermit? = nil, expiresAt: Int64?? = nil
  ) -> PushBatch {
    PushBatch(
      message: message, tokens: tokens, selection: selection ?? self.selection, expiresAt: expiresAt ?? self.expiresAt,
      permit: permit ?? self.permit)
  }
}

/// A transport with one flaw.
final class BrokenTransport: Transport {
  let sound: ScriptedTransport
  let flaw: TransportFlaw
  private let isClosed = Atomic(false)

  init(_ sound: ScriptedTransport, _ flaw: TransportFlaw) {
    self.sound = sound
    self.flaw = flaw
  }

  var lane: Lane { sound.lane }

  func prepare(_ message: PushMessage) throws(MessageFault) -> PreparedMessage {
    if let prepare = flaw.prepare { try prepare(sound, message) } else { try sound.prepare(message) }
  }

  func send(_ batch: PushBatch) async -> PushBatchResult {
    if let send = flaw.sendClosed, isClosed.load(ordering: .acquiring) { return await send(sound, batch) }
    guard let send = flaw.send else { return await sound.send(batch) }
    return await send(sound, batch)
  }

  func close() async {
    isClosed.store(true, ordering: .releasing)
    if let close = flaw.close { await close(sound) } else { await sound.close() }
  }
}

/// The scripted fixture, whose transport has a flaw.
struct BrokenTransportFixture: TransportFixture {
  let scripted: ScriptedFixture
  let transport: BrokenTransport

  init(_ flaw: TransportFlaw, _ capabilities: TransportCapabilities = TransportCapabilities(concurrency: 100)) {
    scripted = ScriptedFixture(capabilities)
    transport = BrokenTransport(scripted.transport, flaw)
  }

  var capabilities: TransportCapabilities { scripted.capabilities }
  var now: Int64 { scripted.now }
  var wallClock: Int64 { scripted.wallClock }
  func tokens(_ count: Int) -> [String] { scripted.tokens(count) }
  var oversizeMessage: PushMessage { scripted.oversizeMessage }
  func script(_ behaviour: PeerBehaviour, for token: String?, times: Int) async throws {
    try await scripted.script(behaviour, for: token, times: times)
  }
  func delivered() async throws -> [DeliveredPush] { try await scripted.delivered() }
  func waitUntilDelivered(to token: String) async throws { try await scripted.waitUntilDelivered(to: token) }
  func requestsSeen() async throws -> Int { try await scripted.requestsSeen() }
  func outlastTimeLimit() async throws { try await scripted.outlastTimeLimit() }
  func waitUntilDisconnected() async throws { try await scripted.waitUntilDisconnected() }
  func unplug() async throws { try await scripted.unplug() }
  func renewCredential() async throws { try await scripted.renewCredential() }
}
