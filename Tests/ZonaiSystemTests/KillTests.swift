import Testing
import ZonaiCore
import ZonaiJSON

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A worker that is killed, over and over.
@Suite(.timeLimit(.minutes(8)))
struct KillTests {
  private static let count = 4000

  private static let devices = (1...count).map { $0 % 2 == 0 ? Device.ios($0) : .android($0) }

  /// Every fifteenth device is gone, of either platform.
  private static let dead = devices.filter { $0.id % 15 == 0 }

  /// The application's own trigger, which makes each prune take a few milliseconds, so that kills meet one.
  private static let slowPrunes = """
    CREATE VIEW busy AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) SELECT i FROM n;
    CREATE TRIGGER slow AFTER UPDATE OF token ON devices BEGIN SELECT count(*) FROM busy; END
    """

  /// What a worker is let do before it is killed.
  private enum Moment: Int, CaseIterable {
    /// So many requests arrived at the services.
    case requests
    /// Some answers were settled.
    case settled
    /// Some rows were pruned.
    case pruned
    /// It has committed that tokens are dead, and is about to clear them, or in the middle of it.
    case recorded

    /// How much must have come about for a worker that starts now.
    func goal(_ stage: Stage, _ random: inout Seeded) async throws -> Int {
      switch self {
      case .requests, .settled: try await reached(stage) + Int.random(in: 5...60, using: &random)
      case .pruned: try await reached(stage) + Int.random(in: 1...6, using: &random)
      case .recorded: 1
      }
    }

    func reached(_ stage: Stage, by worker: Program? = nil) async throws -> Int {
      switch self {
      case .requests: try await stage.requests("fcm") + stage.requests("apns")
      case .settled: try stage.database.number("SELECT delivered FROM zonai_jobs")
      case .pruned: try stage.database.number("SELECT pruned FROM zonai_jobs")
      case .recorded:
        try stage.database.number(
          """
          SELECT count(*) FROM zonai_batches WHERE is_settling = 1 AND rejections IS NOT NULL
          AND worker LIKE '%/\(worker?.pid ?? 0)/%'
          """)
      }
    }
  }

  @Test func `killed twenty times at random moments, a job skips nobody, counts its repeats and touches no live token`()
    async throws
  {
    let seed = getenv("ZONAI_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1...99_999)
    print("the moments of the kills: ZONAI_SEED=\(seed)")
    var random = Seeded(seed)
    try await Stage.with(Self.devices) { stage in
      try await stage.simulator.control(
        "POST", "/devices", .array(Self.dead.map { ["token": .string($0.token), "state": "uninstalled"] }))
      for lane in ["fcm", "apns"] { try await stage.fault(["lane": .string(lane), "delayMs": 120]) }
      try stage.database.run(Self.slowPrunes)
      let before = try stage.rows
      let script = try Script(stage)
      let id = try await script.push()

      var eventIDs = Set<String>()
      var resumes = 0
      for kill in 1...20 {
        let moment = try #require(Moment.allCases.randomElement(using: &random))
        let goal = try await moment.goal(stage, &random)
        let worker = try script.work("--lease", "1")
        try await eventually("kill \(kill) of seed \(seed): \(moment) \(goal)") {
          try #require(worker.isRunning, "kill \(kill) of seed \(seed): \(worker.errors)")
          let state = try stage.jobState
          try #require(state != "completed", "seed \(seed) leaves nothing for kill \(kill)")
          if state == "failed" {
            try await script.resumeAfterTakeovers(id)
            resumes += 1
          }
          return try await moment.reached(stage, by: worker) >= goal
        }
        worker.signal(SIGKILL)
        #expect(try await worker.end() == 128 + SIGKILL)
        eventIDs.formUnion(worker.rejected)
      }

      while try stage.jobState != "completed" {
        if try stage.jobState == "failed" { try await script.resumeAfterTakeovers(id) }
        let worker = try script.work("--lease", "1", "--once")
        _ = try await worker.end()
        eventIDs.formUnion(worker.rejected)
      }
      let job = try await script.show(id)
      try await expectWhole(job, stage, before: before, "seed \(seed), \(resumes) resumes")
      #expect(eventIDs.count == Self.dead.count, "told again, a rejection keeps its event id; seed \(seed)")
    }
  }

  @Test func `told to stop at random moments, workers leave nobody half-way and send to nobody twice`() async throws {
    let seed = getenv("ZONAI_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1...99_999)
    print("the moments of the stops: ZONAI_SEED=\(seed)")
    var random = Seeded(seed)
    let devices = Array(Self.devices[..<2400])
    let dead = devices.filter { $0.id % 15 == 0 }
    try await Stage.with(devices) { stage in
      try await stage.simulator.control(
        "POST", "/devices", .array(dead.map { ["token": .string($0.token), "state": "uninstalled"] }))
      for lane in ["fcm", "apns"] { try await stage.fault(["lane": .string(lane), "delayMs": 500]) }
      let script = try Script(stage)
      let id = try await script.push()
      for stop in 1...4 {
        let goal = try await Moment.requests.reached(stage) + Int.random(in: 5...60, using: &random)
        let worker = try script.work()
        try await eventually("stop \(stop) of seed \(seed)") {
          try #require(worker.isRunning, "\(worker.errors)")
          try #require(try stage.jobState != "completed", "seed \(seed) leaves nothing for stop \(stop)")
          return try await Moment.requests.reached(stage) >= goal
        }
        worker.signal(stop % 2 == 0 ? SIGTERM : SIGINT)
        #expect(try await worker.end() == 0, "\(worker.errors)")
        #expect(try stage.database.number("SELECT count(*) FROM zonai_batches WHERE worker IS NOT NULL") == 0)
        #expect(
          try await stage.inbox.total == stage.database.number("SELECT delivered FROM zonai_jobs"),
          "what was sent is settled; seed \(seed)")
      }
      try await stage.simulator.control("DELETE", "/faults")
      #expect(try await script.work("--once").end() == 0)
      let job = try await script.show(id)
      #expect(job["state"] == "completed")
      #expect(job["delivered"]?.integer == 2240)
      #expect(job["pruned"]?.integer == 160)
      #expect(job["repeated_by_takeover"]?.integer == 0)
      #expect(job["repeated_after_lost_answer"]?.integer == 0)
      let inbox = try await stage.inbox
      #expect(inbox.recipients == 2240)
      #expect(inbox.repeated == 0, "seed \(seed)")
      #expect(try stage.cleared == dead.map(\.id))
    }
  }

  private func expectWhole(_ job: JSON, _ stage: Stage, before: [[String?]], _ words: Comment) async throws {
    func count(_ name: String) -> Int { Int(job[name]?.integer ?? -1) }
    let live = Self.count - Self.dead.count
    #expect(count("delivered") == live, words)
    #expect(count("permanently_rejected") == Self.dead.count, words)
    #expect(count("pruned") == Self.dead.count, words)
    for name in ["transiently_failed", "expired", "spared", "kept", "owed"] {
      #expect(count(name) == 0, "\(name), \(words)")
    }

    // Nobody but live devices can be in the inbox, so as many as there are live ones means every one of them.
    let inbox = try await stage.inbox
    #expect(inbox.recipients == live, words)
    let bound = count("repeated_by_takeover") + count("repeated_after_lost_answer")
    #expect(inbox.repeated <= bound, "law 6: \(inbox.repeated) of at most \(bound); \(words)")
    #expect(count("repeated_by_takeover") > 0, "some kill hit a batch under way; \(words)")
    print("\(inbox.repeated) repeats, at most \(bound) by the job's account; \(words)")

    let gone = Set(Self.dead.map { "\($0.id)" })
    var expected = before
    for index in expected.indices {
      if let id = expected[index][0], gone.contains(id) { expected[index][1] = nil }
    }
    #expect(try stage.rows == expected, words)
    #expect(try stage.database.number("SELECT count(*) FROM zonai_batches") == 0, words)
  }
}

/// A small generator whose numbers are the seed's: Knuth's multiplier, with the high bits folded down.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let mixed = (state ^ (state >> 29)) &* 0xbf58_476d_1ce4_e5b9
    return mixed ^ (mixed >> 32)
  }
}
