import Synchronization
import Testing
import ZonaiCore
import ZonaiTestKit

struct TimeToLiveTests {
  /// Keeps what it is given, and hands it on.
  private final class Recorder: Transport {
    let batches = Mutex<[PushBatch]>([])
    private let inner: ScriptedTransport

    init(_ inner: ScriptedTransport) { self.inner = inner }

    var lane: Lane { inner.lane }
    func prepare(_ message: PushMessage) throws(MessageFault) -> PreparedMessage { try inner.prepare(message) }
    func send(_ batch: PushBatch, _ answered: @escaping @Sendable (AnswerChunk) -> Void) async -> SendEnd {
      batches.withLock { $0.append(batch) }
      return await inner.send(batch, answered)
    }
    func close() async { await inner.close() }
  }

  @Test func `a send carries its end on the clock that it is sent by, reckoned from the store's time`() async throws {
    // The store's clock stands at a moment of 2023, which no clock of this machine shows.
    let world = World(passes: true)
    world.insert("android", 1...3)
    let recorder = Recorder(world.fcm)
    let zonai = try world.zonai(transports: [recorder])
    let before = SendPermit.now
    try await zonai.push(PushMessage(title: "Hello", timeToLive: 60), to: world.audience)
    try await zonai.drain()
    let batch = try #require(recorder.batches.withLock { $0 }.first)
    let moment = try #require(batch.expiresAtMoment)
    #expect(((before + 60_000)...(SendPermit.now + 60_000)).contains(moment))
    #expect(batch.expiresAt == world.clock.now + 60_000)
    #expect(batch.time(at: moment - 60_000) == world.clock.now)
  }

  @Test func `a send without a time to live has no end`() async throws {
    let world = World()
    world.insert("android", 1...3)
    let recorder = Recorder(world.fcm)
    let zonai = try world.zonai(transports: [recorder])
    try await zonai.push(PushMessage(title: "Hello"), to: world.audience)
    try await zonai.drain()
    let batch = try #require(recorder.batches.withLock { $0 }.first)
    #expect(batch.expiresAtMoment == nil)
    #expect(batch.time(at: 0) == nil)
  }
}
