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

/// An application that goes on registering devices anew while two workers clear dead tokens.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RegisteringTests {
  private static let count = 20_000

  @Test(arguments: [PrivateServer.Kind.postgres, .mariadb])
  func `no token that was registered meanwhile is ever cleared`(_ kind: PrivateServer.Kind) async throws {
    try await Cluster.with(kind, devices: Self.count) { cluster in
      try await Program.run(["migrate", "--store", cluster.database.url], in: cluster.folder)
      // Time for the application between an answer and its prune.
      for lane in ["fcm", "apns"] {
        try await cluster.simulator.control("POST", "/faults", ["lane": .string(lane), "delayMs": 50])
      }
      // Three in ten rows are dead before any is registered anew.
      let gone = (1...Self.count).filter { $0 % 10 < 3 }.map { id in
        JSON.object(["token": .string(Fleet.device(id).token), "state": "uninstalled"])
      }
      try await cluster.simulator.control("POST", "/devices", .array(gone))
      let id = try await cluster.script.push()
      let workers = try (1...2).map { _ in try cluster.script.work() }
      defer { for worker in workers { worker.signal(SIGKILL) } }

      var round = 0
      while try await cluster.jobState != "completed" {
        round += 1
        // A part of the dead and of the living gets a new token, whether the old one was cleared or not.
        let fresh = kind == .postgres ? "'\(round)-' || registered" : "CONCAT('\(round)-', registered)"
        let some = "id % 2 = 1 AND id % 10 < 5 AND (id * 7 + \(round)) % 13 = 0"
        try await cluster.database.run(
          kind == .postgres
            ? "UPDATE devices SET token = \(fresh), registered = \(fresh) WHERE \(some)"
            // MySQL sees the left assignments in the right ones.
            : "UPDATE devices SET registered = \(fresh), token = registered WHERE \(some)")
      }
      for worker in workers { worker.signal(SIGTERM) }
      for worker in workers { #expect(try await worker.end() == 0, "\(worker.errors)") }

      let anew = "registered <> \(cluster.fleet.token)"
      #expect(try await cluster.database.number("SELECT COUNT(*) FROM devices WHERE \(anew)") > 0)
      #expect(
        try await cluster.database.number(
          "SELECT COUNT(*) FROM devices WHERE \(anew) AND (token IS NULL OR token <> registered)") == 0)
      let job = try await cluster.script.show(id)
      #expect((job["pruned"]?.integer ?? 0) > 0)
      let cleared = try await cluster.database.number("SELECT COUNT(*) FROM devices WHERE token IS NULL")
      #expect(cleared > 0)
      #expect(
        try await cluster.database.number("SELECT COUNT(*) FROM devices WHERE token IS NULL AND id % 10 >= 3") == 0)
      print("\(kind.rawValue): \(round) rounds of registrations, \(cleared) of \(gone.count) dead tokens cleared")
    }
  }
}
