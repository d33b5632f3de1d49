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

/// Two worker processes on one file.
@Suite(.timeLimit(.minutes(5)))
struct WorkerTests {
  private static func devices(_ count: Int) -> [Device] {
    (1...count).map { $0 % 2 == 0 ? .ios($0) : .android($0) }
  }

  @Test func `two workers share one job, everybody gets it once, and the dead are pruned once`() async throws {
    let devices = Self.devices(1200)
    try await Stage.with(devices) { stage in
      for device in devices where device.id % 40 == 0 { try await stage.put(device, "uninstalled") }
      for lane in ["fcm", "apns"] { try await stage.fault(["lane": .string(lane), "delayMs": 60]) }
      let script = try Script(stage, settings: ["batchSize": 60, "batchesInFlight": 1])
      let workers = try [script.work(), script.work()]
      for worker in workers { try await eventually("a worker's start") { worker.errors.contains("started with") } }
      let id = try await script.push()
      try await eventually("the job's end") { try stage.jobState == "completed" }
      for worker in workers {
        worker.signal(SIGTERM)
        #expect(try await worker.end() == 0, "\(worker.errors)")
        let stopped = worker.events.last
        #expect(stopped?["event"] == "stopped")
        #expect(stopped?["batches"]?.integer ?? 0 > 0, "both had their part")
      }
      let job = try await script.show(id)
      #expect(job["delivered"]?.integer == 1170)
      #expect(job["pruned"]?.integer == 30)
      #expect(job["repeated_by_takeover"]?.integer == 0)
      #expect(Set(workers.flatMap(\.rejected)).count == 30)
      #expect(workers.flatMap(\.rejected).count == 30, "no rejection was told twice")
      let inbox = try await stage.inbox
      #expect(inbox.recipients == 1170)
      #expect(inbox.repeated == 0)
    }
  }

  @Test(arguments: [true, false])
  func `a worker that was stopped beyond its lease commits nothing when it goes on`(
    _ wakesAfterTheEnd: Bool
  ) async throws {
    let devices = (1...50).map { Device.android($0) }
    let dead = devices.filter { $0.id % 10 == 0 }
    try await Stage.with(devices) { stage in
      for device in dead { try await stage.put(device, "uninstalled") }
      // Long enough for the worker to be stopped before any answer is there. The other one's answers come after those of
      // the first: when it is done, they lie at the sleeper's door.
      try await stage.fault(["lane": "fcm", "delayMs": 8000])
      let script = try Script(stage)
      let id = try await script.push()
      let sleeper = try script.work("--lease", "3")
      try await eventually("the first requests") { try await stage.requests("fcm") == 50 }
      // Asleep with the file's lock in its hands, it would stop everybody else as well.
      try await eventually("that the sleeper sleeps without the file's lock") {
        try await sleeper.pause()
        if try stage.database.isFree { return true }
        sleeper.signal(SIGCONT)
        return false
      }
      try #require(try stage.database.number("SELECT unsettled FROM zonai_batches WHERE fence = 1") == 50)

      let rescuer = try script.work("--lease", "3", "--once")
      if wakesAfterTheEnd {
        #expect(try await rescuer.end() == 0, "\(rescuer.errors)")
        // The devices come back before the sleeper does.
        for device in dead {
          try stage.database.run("UPDATE devices SET token = 'back-\(device.id)' WHERE id = \(device.id)")
        }
      } else {
        try await eventually("the other worker's requests") { try await stage.requests("fcm") == 100 }
      }
      let before = try stage.rows
      sleeper.signal(SIGCONT)
      try await eventually("that the sleeper finds its lease gone") { sleeper.errors.contains("lost") }
      sleeper.signal(SIGTERM)
      #expect(try await sleeper.end() == 0, "\(sleeper.errors)")
      #expect(sleeper.rejected.isEmpty)
      #expect(try stage.rows == before || !wakesAfterTheEnd)
      #expect(try await rescuer.end() == 0, "\(rescuer.errors)")

      let done = try await script.show(id)
      #expect(done["state"] == "completed")
      #expect(done["delivered"]?.integer == 45)
      #expect(done["permanently_rejected"]?.integer == 5)
      #expect(done["pruned"]?.integer == 5)
      #expect(done["repeated_by_takeover"]?.integer == 50)
      #expect(try stage.cleared == (wakesAfterTheEnd ? [] : dead.map(\.id)))
      #expect(try await stage.requests("fcm") == 100, "and the sleeper has sent nothing more")
      let inbox = try await stage.inbox
      #expect(inbox.recipients == 45)
      #expect(inbox.repeated == 45)
    }
  }

  @Test func `a batch slower than its lease is not taken over while its worker lives`() async throws {
    try await Stage.with(Self.devices(40)) { stage in
      // Two leases and a half until the answers come.
      for lane in ["fcm", "apns"] { try await stage.fault(["lane": .string(lane), "times": 1, "delayMs": 5000]) }
      let script = try Script(stage)
      let id = try await script.push()
      let workers = try [script.work("--once", "--lease", "2"), script.work("--once", "--lease", "2")]
      for worker in workers { #expect(try await worker.end() == 0, "\(worker.errors)") }
      let job = try await script.show(id)
      #expect(job["state"] == "completed")
      #expect(job["delivered"]?.integer == 40)
      #expect(job["repeated_by_takeover"]?.integer == 0)
      #expect(try await stage.requests("fcm") + stage.requests("apns") == 40)
      #expect(try await stage.inbox.repeated == 0)
    }
  }

  @Test func `a job that is cancelled under a worker stops, and resumed it goes on with exactly the rest`() async throws
  {
    let devices = Self.devices(1000)
    try await Stage.with(devices) { stage in
      // A part is answered at once, then answers take long: what is claimed by then stays in flight until the cancel is heard.
      for lane in ["fcm", "apns"] { try await stage.fault(["lane": .string(lane), "after": 100, "delayMs": 4000]) }
      let script = try Script(stage)
      let id = try await script.push()
      let worker = try script.work("--lease", "1")
      try await eventually("a part of the job") { try stage.database.number("SELECT delivered FROM zonai_jobs") > 100 }
      try await script.change(id, "cancel")
      try await eventually("that nobody holds a batch") {
        try stage.database.number("SELECT count(*) FROM zonai_batches WHERE worker IS NOT NULL") == 0
      }
      let cancelled = try await script.show(id)
      #expect(cancelled["state"] == "cancelled")
      let delivered = Int(cancelled["delivered"]?.integer ?? -1)
      #expect((101..<1000).contains(delivered))
      #expect(try await stage.inbox.total == delivered, "what was sent is settled")

      try await stage.simulator.control("DELETE", "/faults")
      try await script.change(id, "resume")
      try await eventually("the job's end") { try stage.jobState == "completed" }
      worker.signal(SIGTERM)
      #expect(try await worker.end() == 0, "\(worker.errors)")
      let done = try await script.show(id)
      #expect(done["delivered"]?.integer == 1000)
      let inbox = try await stage.inbox
      #expect(inbox.recipients == 1000)
      #expect(inbox.repeated == 0)
    }
  }
}
