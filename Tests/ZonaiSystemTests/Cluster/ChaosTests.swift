import Testing
import ZonaiJSON
import ZonaiTestServers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Four workers on one job, and everything that may happen to them and to their database.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ChaosTests {
  private static let count = 200_000
  private static let lease = "3"

  private enum Blow: CaseIterable {
    case killWorker, stopWorker, wakeWorker, restartServer, killServer
  }

  @Test(arguments: [PrivateServer.Kind.postgres, .mariadb])
  func `killed, paused and cut off from their database, four workers send to everybody and count every repeat`(
    _ kind: PrivateServer.Kind
  ) async throws {
    let seed = getenv("ZONAI_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1...99_999)
    print("the blows: ZONAI_SEED=\(seed)")
    var random = Seeded(seed)
    let settings: [String: JSON] = ["batchSize": 400, "batchesInFlight": 2, "maxRetryDelaySeconds": 1]
    try await Cluster.with(kind, devices: Self.count, settings: settings) { cluster in
      try await Program.run(["migrate", "--store", cluster.database.url], in: cluster.folder)
      let id = try await cluster.script.push()
      var workers = try (1...4).map { _ in try cluster.script.work("--lease", Self.lease) }
      defer { for worker in workers { worker.signal(SIGKILL) } }
      var paused: [Program] = []
      var told = ""
      var resumes = 0

      func resumeIfStopped() async throws {
        guard try await cluster.jobState == "failed" else { return }
        try await cluster.script.resumeAfterTakeovers(id)
        resumes += 1
      }

      let blows = 16
      // Every kind at least once, and the rest by the seed.
      var kinds: [Blow] = [.killWorker, .stopWorker, .restartServer, .killServer, .wakeWorker]
      while kinds.count < blows { kinds.append(try #require(Blow.allCases.randomElement(using: &random))) }
      for (number, blow) in kinds.enumerated() {
        let goal = (number + 1) * Self.count / (blows + 2)
        do {
          try await eventually("\(goal) of seed \(seed), before blow \(number) (\(blow))\(told)") {
            try await resumeIfStopped()
            for worker in workers { try #require(worker.isRunning, "seed \(seed)\(told): \(worker.errors)") }
            return try await cluster.settled >= goal
          }
        } catch {
          print("the job:", try await cluster.script.show(id).text)
          for worker in workers { print("worker \(worker.pid):", worker.errors.suffix(1000)) }
          throw error
        }
        told += "; \(blow)"
        switch blow {
        case .killWorker:
          let victim = Int.random(in: workers.indices, using: &random)
          workers[victim].signal(SIGKILL)
          #expect(try await workers[victim].end() == 128 + SIGKILL)
          workers[victim] = try cluster.script.work("--lease", Self.lease)
        case .stopWorker:
          // Two at least stay awake.
          guard paused.count < 2, let victim = workers.randomElement(using: &random),
            !paused.contains(where: { $0.pid == victim.pid })
          else { continue }
          try await victim.pause()
          paused.append(victim)
        case .wakeWorker:
          for worker in paused { worker.signal(SIGCONT) }
          paused = []
        case .restartServer:
          try await cluster.server.stop()
          try await cluster.server.start()
        case .killServer:
          try await cluster.server.kill()
          try await cluster.server.start()
        }
      }
      for worker in paused { worker.signal(SIGCONT) }
      try await eventually("the end of seed \(seed)\(told)") {
        try await resumeIfStopped()
        return try await cluster.jobState == "completed"
      }
      for worker in workers { worker.signal(SIGTERM) }
      for worker in workers { #expect(try await worker.end() == 0, "seed \(seed): \(worker.errors)") }

      let words: Comment = "seed \(seed), \(resumes) resumes\(told)"
      let job = try await cluster.script.show(id)
      func count(_ name: String) -> Int { Int(job[name]?.integer ?? -1) }
      // Were a batch committed twice, these would be more.
      #expect(count("delivered") == cluster.fleet.liveCount, words)
      #expect(count("permanently_rejected") == cluster.fleet.deadCount, words)
      #expect(count("pruned") + count("spared") == cluster.fleet.deadCount, words)
      // A worker that is paused in the middle of a prune holds its rows for a while, four of each of its two batches: whoever
      // takes the batch over spares them.
      let held = kinds.count { $0 == .stopWorker } * 2 * 4
      #expect(count("spared") <= held, words)
      for name in ["transiently_failed", "expired", "kept", "owed"] {
        #expect(count(name) == 0, "\(name): \(words)")
      }
      let inbox = try await cluster.inbox
      #expect(inbox.recipients == cluster.fleet.liveCount, words)
      let bound = count("repeated_by_takeover") + count("repeated_after_lost_answer")
      #expect(inbox.repeated <= bound, "\(inbox.repeated) of at most \(bound): \(words)")
      #expect(try await cluster.database.number(cluster.fleet.wrongRows) == count("spared"), words)
      #expect(try await cluster.database.number(cluster.fleet.harmedRows) == 0, words)
      #expect(try await cluster.database.number("SELECT COUNT(*) FROM zonai_batches") == 0, words)
      print("\(kind.rawValue): \(inbox.repeated) repeats, at most \(bound) by the job's account, \(resumes) resumes")
    }
  }
}
