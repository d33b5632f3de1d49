import Synchronization
import ZonaiCore
import ZonaiTestKit

/// One mistake that a transport can make, as what it does in place of the sound transport beneath it.
struct TransportFlaw: Sendable {
  let name: String
  var prepare: (@Sendable (ScriptedTransport, PushMessage) throws(MessageFault) -> PreparedMessage)?
  var send: Send?
  var check: (@Sendable (ScriptedTransport, PushBatch) async -> [EnvironmentAnswer])?
  var close: (@Sendable (ScriptedTransport) async -> Void)?
  /// In place of `send`, once it was closed.
  var sendClosed: Send?

  typealias Receiver = @Sendable (AnswerChunk) -> Void
  typealias Send = @Sendable (ScriptedTransport, PushBatch, @escaping Receiver) async -> SendEnd

  init(_ name: String, _ break: (inout TransportFlaw) -> Void) {
    self.name = name
    `break`(&self)
  }

  static func onSend(_ name: String, _ send: @escaping Send) -> TransportFlaw {
    TransportFlaw(name) { flaw in flaw.send = send }
  }

  /// Changes what a send hands over.
  static func onChunk(
    _ name: String, _ change: @escaping @Sendable (inout AnswerChunk, PushBatch) -> Void
  ) -> TransportFlaw {
    onSend(name) { transport, batch, answered in
      await transport.send(batch) { chunk in
        var chunk = chunk
        change(&chunk, batch)
        answered(chunk)
      }
    }
  }

  /// Changes the answers that a send hands over.
  static func onAnswer(_ name: String, _ change: @escaping @Sendable (PushAnswer) -> PushAnswer) -> TransportFlaw {
    onChunk(name) { chunk, _ in chunk.answers = chunk.answers.map(change) }
  }

  /// Changes what a send is asked.
  static func onBatch(
    _ name: String, _ change: @escaping @Sendable (ScriptedTransport, PushBatch) -> PushBatch
  ) -> TransportFlaw {
    onSend(name) { transport, batch, answered in await transport.send(change(transport, batch), answered) }
  }

  /// Changes the verdicts that a send gives.
  static func onVerdict(_ name: String, _ change: @escaping @Sendable (inout Verdict, DeviceToken) -> Void)
    -> TransportFlaw
  {
    onChunk(name) { chunk, batch in
      for place in chunk.answers.indices {
        guard case .answered(var verdict, let sent) = chunk.answers[place] else { continue }
        change(&verdict, batch.tokens.token(chunk.indexes[place]))
        chunk.answers[place] = .answered(verdict, sent)
      }
    }
  }

  /// Sends once more to those whose answer is like this.
  static func resending(
    _ name: String, telling isTold: Bool = true, _ isResent: @escaping @Sendable (PushAnswer) -> Bool
  ) -> TransportFlaw {
    onSend(name) { transport, batch, answered in
      let again = Recording<Int>()
      let end = await transport.send(batch) { chunk in
        var told = chunk
        for (index, answer) in zip(chunk.indexes, chunk.answers) where isResent(answer) { again.append(index) }
        if isTold { told.removeAll(where: isResent) }
        answered(told)
      }
      guard again.count > 0 else { return end }
      _ = await transport.send(batch.with(selection: again.elements)) { if isTold { answered($0) } }
      return end
    }
  }
}

extension AnswerChunk {
  mutating func removeAll(where isOut: (PushAnswer) -> Bool) {
    let kept = answers.indices.filter { !isOut(answers[$0]) }
    indexes = kept.map { indexes[$0] }
    answers = kept.map { answers[$0] }
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

  func send(_ batch: PushBatch, _ answered: @escaping @Sendable (AnswerChunk) -> Void) async -> SendEnd {
    if let send = flaw.sendClosed, isClosed.load(ordering: .acquiring) { return await send(sound, batch, answered) }
    guard let send = flaw.send else { return await sound.send(batch, answered) }
    return await send(sound, batch, answered)
  }

  func check(_ batch: PushBatch) async -> [EnvironmentAnswer] {
    if let check = flaw.check { await check(sound, batch) } else { await sound.check(batch) }
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

  init(
    _ flaw: TransportFlaw,
    _ capabilities: TransportCapabilities = TransportCapabilities(concurrency: 100, hasOtherEnvironment: true)
  ) {
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
  func scriptOtherEnvironment(_ behaviour: OtherEnvironmentBehaviour, for token: String) async throws {
    try await scripted.scriptOtherEnvironment(behaviour, for: token)
  }
}
