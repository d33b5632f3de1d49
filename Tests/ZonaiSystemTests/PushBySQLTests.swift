import Testing
import ZonaiJSON

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Pushes that the application inserts beside its own rows, and workers send.
@Suite(.timeLimit(.minutes(5)))
struct PushBySQLTests {
  private static let devices: [Device] = (1...20).map { $0 % 2 == 0 ? .ios($0) : .android($0) }

  private static func insert(_ message: String, where condition: String = "id > 0") -> String {
    let request = """
      {"message": \(message),
       "audience": {"table": "devices", "token": "token", "platform": {"column": "platform"}, "where": "\(condition)"}}
      """
    return "INSERT INTO zonai_jobs (request) VALUES (\(quoted(request)))"
  }

  private static func id(_ number: Int, _ stage: Stage) throws -> String {
    let ids = try stage.database.rows("SELECT id FROM zonai_jobs ORDER BY rowid").compactMap { $0[0] }
    return try #require(ids.indices.contains(number) ? ids[number] : nil)
  }

  @Test func `a good push is sent, and bad ones beside it fail before anything is sent`() async throws {
    try await Stage.with(Self.devices) { stage in
      try await stage.put(Self.devices[0], "uninstalled")
      let script = try Script(stage)
      try stage.database.run(
        """
        UPDATE devices SET seen = 1 WHERE id = 2;
        \(Self.insert(#"{"title": "Hello"}"#));
        \(Self.insert(#"{"title": "x", "body": "\#(String(repeating: "y", count: 5000))"}"#));
        \(Self.insert(#"{"title": "x", "data": {"from": "me"}}"#));
        \(Self.insert(#"{"title": "x"}"#, where: "nobody = 1"));
        INSERT INTO zonai_jobs (request) VALUES ('{"message"');
        """)
      let worker = try script.work("--once")
      #expect(try await worker.end() == 1, "some jobs failed: \(worker.errors)")
      let good = try await script.show(Self.id(0, stage))
      #expect(good["state"] == "completed")
      #expect(good["delivered"]?.integer == 19)
      #expect(good["pruned"]?.integer == 1)
      let reasons = [
        ("message", "bytes"), ("message", "The data key \"from\" is reserved by FCM"),
        ("store", "the table devices has no column nobody"), ("request", "the request is not JSON: line 1, column 1"),
      ]
      for (number, (code, words)) in reasons.enumerated() {
        let bad = try await script.show(Self.id(number + 1, stage))
        #expect(bad["state"] == "failed")
        #expect(bad["error"]?["code"]?.string == code)
        #expect(bad["error"]?["message"]?.string?.contains(words) == true, "\(bad["error"]?.text ?? "")")
        #expect(bad["delivered"]?.integer == 0)
        #expect(bad["tally"]?.array == [])
      }
      #expect(try await stage.inbox.total == 19)
      #expect(try await stage.inbox.repeated == 0)
      #expect(try stage.cleared == [1])
    }
  }

  @Test func `a worker that waits finds an insert of another process when it is committed`() async throws {
    try await Stage.with(Self.devices) { stage in
      let script = try Script(stage)
      let worker = try script.work()
      try await eventually("the worker's start") { worker.errors.contains("started with") }
      try stage.database.run(Self.insert(#"{"title": "Hello"}"#))
      try await eventually("the job's end") { try stage.jobState == "completed" }
      worker.signal(SIGTERM)
      #expect(try await worker.end() == 0)
      #expect(try await stage.inbox.total == 20)
    }
  }
}
