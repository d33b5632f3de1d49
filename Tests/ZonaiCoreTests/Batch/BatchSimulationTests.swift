import Testing
import ZonaiCore

/// Many batches against services that answer at random: what must hold whatever they say.
@Suite struct BatchSimulationTests {
  /// Seeded, so that a failure can be run again by its number.
  struct Dice: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      var mixed = state
      mixed ^= mixed >> 33
      mixed = mixed &* 0xff51_afd7_ed55_8ccd
      mixed ^= mixed >> 33
      return mixed
    }
  }

  static let answers: [Verdict] = [
    .delivered, .delivered, .delivered, .dead, .tokenNamed, .namesNothing, .badDeviceToken, .unavailable, .refusedKey,
    .refusedMessage, .wrongTopic, .notHandled, .lost, .unheardOf,
  ]

  @Test(arguments: 0..<8)
  func `everybody ends exactly once, and only tokens that were called dead are rejected`(_ block: Int) {
    for seed in 0..<400 {
      var dice = Dice(state: UInt64(block * 10_000 + seed))
      let count = Int.random(in: 0...40, using: &dice)
      var script = BatchScript(
        (0..<count).map { _ in ["android", "ios", "", "web"].randomElement(using: &dice) ?? "" })
      if Bool.random(using: &dice) { script.job.definition.routes = Routes(apple: .fcm, android: .fcm, unknown: nil) }
      if Int.random(in: 0...5, using: &dice) == 0 { script.job.definition.message.timeToLive = 12 }
      // A mood makes runs of one answer, as real faults do.
      let mood = Self.answers.shuffled(using: &dice).prefix(Int.random(in: 1...4, using: &dice))
      var said: [Int: Verdict] = [:]
      let table = (0..<400).map { _ in mood.randomElement(using: &dice) ?? .delivered }
      let laneFault = Int.random(in: 0...9, using: &dice)
      let box = Box()
      script.answer = { index, attempt in
        let verdict = table[(index * 7 + attempt * 31) % table.count]
        box.said[index] = verdict
        return verdict
      }
      script.laneFault = { _, send in send == laneFault ? .unavailable : nil }
      let stopsEarly = Bool.random(using: &dice)
      script.stops = { stopsEarly && $0.outcome == .jobFails }
      let ending = script.run()
      said = box.said

      guard let settled = ending.answers else {
        #expect(count == 0 && ending.isAbandoned == false, "seed \(block)/\(seed) did not settle")
        continue
      }
      let total = ending.delivered + ending.failed + ending.expired + ending.rejected + ending.owed.count
      #expect(total == count, "seed \(block)/\(seed): \(total) of \(count)")
      var keys = Set(settled.owed.map(\.key))
      #expect(keys.count == settled.owed.count, "seed \(block)/\(seed): somebody is owed twice")
      for rejection in settled.rejections {
        #expect(keys.insert(rejection.key).inserted, "seed \(block)/\(seed): rejected and owed")
        guard case .integer(let index) = rejection.key.values[0], let last = said[Int(index)] else { continue }
        #expect(last.outcome == .permanentlyRejected, "seed \(block)/\(seed): \(last.reason) pruned a row")
        if last.evidence?.isCircumstantial == true {
          let group = rejection.group
          let hasWitness = settled.tally.contains { $0.group == group && $0.outcome == .delivered }
          #expect(hasWitness, "seed \(block)/\(seed): pruned without a witness")
        }
      }
      if settled.failure == nil {
        #expect(
          settled.owed.allSatisfy { $0.suspectOf == nil }, "seed \(block)/\(seed): suspects, and the job goes on")
      }
    }
  }

  private final class Box {
    var said: [Int: Verdict] = [:]
  }
}
