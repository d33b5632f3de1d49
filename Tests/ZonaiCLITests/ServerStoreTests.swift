import Testing
import ZonaiJSON
import ZonaiSimulator
import ZonaiTestServers

/// The command on database servers.
@Suite(
  .enabled(if: !ServerDatabase.Kind.there.isEmpty, "\(TestServers.noPostgres); \(TestServers.noMySQL)"),
  .sharedSimulator, .timeLimit(.minutes(3)))
struct ServerStoreTests {
  private func words(_ simulator: Simulator) -> [String] {
    [
      "--simulator", simulator.directory, "--table", "devices", "--token-column", "token", "--platform-column",
      "platform", "--title", "Hello",
    ]
  }

  @Test(arguments: ServerDatabase.Kind.there)
  func `a store in the environment need not be on any command line`(_ kind: ServerDatabase.Kind) async throws {
    let simulator = try #require(SharedSimulator.current)
    try await ServerDatabase.with(kind) { database in
      let environment = ["ZONAI_STORE": database.url(password: database.password)]
      func zonai(_ words: String...) async throws -> Shell.Ending {
        let ending = try await Shell.run(words, environment: environment)
        #expect(!ending.errors.contains("warning"), "\(ending.errors)")
        return ending
      }
      #expect(try await zonai("migrate").code == 0)
      let pushed = try await Shell.run(["push"] + words(simulator), environment: environment)
      #expect(pushed.code == 0, "\(pushed.errors)")
      #expect(pushed.errors.contains("zonai work --simulator"))
      let empty = try await zonai("workers")
      #expect(empty.code == 0)
      #expect(empty.output.isEmpty)
      #expect(empty.errors.contains("no workers"))
      let worked = try await zonai("work", "--simulator", simulator.directory, "--once")
      #expect(worked.code == 0, "\(worked.errors)")
      #expect(worked.output.contains("completed: 20 delivered"))
      let jobs = try await zonai("jobs", "list", "--json")
      #expect(try jobs.json["jobs"]?[0]?["state"] == "completed")
    }
  }

  @Test(arguments: ServerDatabase.Kind.there)
  func `a password in the client's own variable is found`(_ kind: ServerDatabase.Kind) async throws {
    try await ServerDatabase.with(kind) { database in
      let store = database.url(password: nil)
      let right = try await Shell.run(
        ["migrate", "--store", store], environment: [database.passwordVariable: database.password])
      #expect(right.code == 0, "\(right.errors)")
      #expect(!right.errors.contains("warning"))
    }
  }

  @Test(arguments: ServerDatabase.Kind.there)
  func `a password on the command line is warned of, hidden, and never repeated`(
    _ kind: ServerDatabase.Kind
  ) async throws {
    let simulator = try #require(SharedSimulator.current)
    try await ServerDatabase.with(kind) { database in
      // Word by word as a person would give it; the server's own password may be as short as its user's name.
      let store = database.url(password: database.password)
      let migrated = try await Shell.run("migrate", "--store", store)
      #expect(migrated.code == 0, "\(migrated.errors)")
      #expect(migrated.errors.contains("warning: a password on the command line"))
      #expect(migrated.errors.contains("ZONAI_STORE"))
      #expect(migrated.errors.contains(database.passwordVariable))
      let pushed = try await Shell.run(["push", "--store=\(store)", "--json"] + words(simulator))
      let line = try #require(try pushed.json["work"]?.string)
      #expect(line.contains(database.url(password: nil).prefix { $0 != "?" }))
      for text in [migrated.errors, pushed.errors, pushed.output] {
        #expect(!text.contains(":\(database.password)@"))
      }
      let worker = try Shell(["work", "--simulator", simulator.directory, "--store", store])
      try await blocking { #expect(worker.standardError.waitFor("started")) }
      #if os(Linux)
        let seen = try Folder.read("/proc/\(worker.pid)/cmdline")
        #expect(seen.contains("work"))
        #expect(!seen.contains(":\(database.password)@"), "it still stands there for everybody to read")
        #expect(seen.contains("\(database.user)@"))
      #endif
      // It says what it is on a thread of its own: its first claim may be told of before.
      var workers: [JSON] = []
      for _ in 0..<100 where workers.first?["pid"]?.integer == nil {
        let listed = try await Shell.run(["workers", "--json"], environment: ["ZONAI_STORE": store])
        workers = try listed.json["workers"]?.array ?? []
      }
      #expect(workers.count == 1)
      #expect(workers.first?["alive"] == true)
      #expect(workers.first?["pid"]?.integer == Int64(worker.pid))
      worker.signal(15)
      #expect(try await worker.end().code == 0)
      let after = try await Shell.run(["workers", "--json"], environment: ["ZONAI_STORE": store])
      #expect(try after.json["workers"]?.array?.isEmpty == true)
    }
  }

  @Test(arguments: ServerDatabase.Kind.there)
  func `a wrong password and a server that is not there are one sentence each`(
    _ kind: ServerDatabase.Kind
  ) async throws {
    try await ServerDatabase.with(kind) { database in
      let wrong = try await Shell.run(
        ["jobs", "list", "--store", database.url(password: nil), "--json"],
        environment: [database.passwordVariable: "not-the-secret"])
      // A server that trusts everybody on this machine has no wrong passwords.
      if wrong.code != 0 {
        #expect(wrong.code == 1)
        #expect(wrong.failure.message?.isEmpty == false)
        #expect(!wrong.errors.contains("not-the-secret"))
      }
      let nowhere =
        kind == .postgres ? "postgres://zonai:se-cret@127.0.0.1:1/db" : "mysql://zonai:se-cret@127.0.0.1:1/db"
      let absent = try await Shell.run(["jobs", "list", "--json"], environment: ["ZONAI_STORE": nowhere])
      #expect(absent.code == 1)
      #expect(absent.failure.code == "unavailable")
      #expect(absent.failure.message?.contains("127.0.0.1") == true)
      #expect(!absent.errors.contains("se-cret"))
    }
  }
}
