import Testing
import ZonaiCore
import ZonaiJSON
import ZonaiTestServers

/// A production table in which some tokens belong to development builds.
@Suite(.timeLimit(.minutes(4)))
struct EnvironmentTests {
  private static let sandbox = Array(stride(from: 25, through: 1000, by: 25))
  private static let gone = Array(stride(from: 30, through: 1000, by: 50))
  private static let bad = Array(stride(from: 40, through: 1000, by: 50)).filter { !sandbox.contains($0) }

  /// 1,000 iOS devices: 4 % of the sandbox, others dead by 410, others dead by BadDeviceToken.
  private static func register(_ simulator: (JSON) async throws -> Void) async throws {
    let states =
      sandbox.map { ($0, "otherEnvironment") } + gone.map { ($0, "uninstalled") } + bad.map { ($0, "unknown") }
    try await simulator(
      .array(states.map { ["token": .string(Device.ios($0.0).token), "state": .string($0.1)] }))
  }

  private static func expect(_ job: JSON, cleared: [Int], checks: Int, requests: Int) {
    #expect(job["state"] == "completed")
    #expect(cleared == (gone + bad).sorted(), "every dead token is pruned, and no other: \(job["tally"]?.text ?? "")")
    #expect(job["pruned"]?.integer == Int64(gone.count + bad.count))
    #expect(job["transiently_failed"]?.integer == Int64(sandbox.count))
    #expect(job["delivered"]?.integer == Int64(1000 - sandbox.count - gone.count - bad.count))
    #expect(job.text.contains("alive in the sandbox environment"))
    #expect(requests == 1000)
    #expect(checks == sandbox.count + bad.count, "one check for each BadDeviceToken")
  }

  @Test func `on SQLite every dead token is pruned and no token of the sandbox`() async throws {
    try await Stage.with((1...1000).map { Device.ios($0) }) { stage in
      try await Self.register { try await stage.simulator.control("POST", "/devices", $0) }
      let script = try Script(stage)
      let id = try await script.push()
      #expect(try await script.work("--once").end() == 0)
      let job = try await script.show(id)
      Self.expect(
        job, cleared: try stage.cleared, checks: try await stage.requests("apns-sandbox"),
        requests: try await stage.requests("apns"))
    }
  }

  @Test(arguments: [PrivateServer.Kind.postgres, .mariadb])
  func `on a server every dead token is pruned and no token of the sandbox`(_ kind: PrivateServer.Kind) async throws {
    try await Cluster.with(kind, devices: 0) { cluster in
      let rows = (1...1000).map { "(\($0), '\(Device.ios($0).token)', 'ios')" }.joined(separator: ",")
      try await cluster.database.run("DELETE FROM devices; INSERT INTO devices (id, token, platform) VALUES \(rows)")
      try await Self.register { try await cluster.simulator.control("POST", "/devices", $0) }
      try await Program.run(["migrate", "--store", cluster.database.url], in: cluster.folder)
      let id = try await cluster.script.push()
      let workers = try (1...2).map { _ in try cluster.script.work("--once") }
      for worker in workers { #expect(try await worker.end() == 0) }
      let job = try await cluster.script.show(id)
      let cleared = try await cluster.database.run("SELECT id FROM devices WHERE token IS NULL ORDER BY id")
      let lanes = try await cluster.simulator.control("GET", "/status")["lanes"]
      Self.expect(
        job, cleared: cleared.compactMap { $0.first.flatMap { Int($0) } },
        checks: Int(lanes?["apns-sandbox"]?["requests"]?.integer ?? -1),
        requests: Int(lanes?["apns"]?["requests"]?.integer ?? -1))
    }
  }

  @Test func `a key for one environment prunes no BadDeviceToken and is tried once`() async throws {
    try await Stage.with((1...60).map { Device.ios($0) }) { stage in
      try await stage.simulator.control(
        "POST", "/credentials", ["lane": "apns", "environment": "production"])
      for id in [4, 9, 17, 33] { try await stage.put(.ios(id), "unknown") }
      try await stage.put(.ios(20), "uninstalled")
      let done = try await stage.zonai(options: { $0.batchSize = 20 }).push(to: stage.audience)
      #expect(done.state == .completed)
      #expect(try stage.cleared == [20])
      #expect(done.counts.transientlyFailed == 4)
      #expect(done.details(.transientlyFailed).contains { $0.contains("BadEnvironmentKey") })
      #expect(try await stage.requests("apns-sandbox") == 1)
    }
  }

  @Test func `VoIP tokens are never asked about, and BadDeviceToken keeps them`() async throws {
    try await Stage.with((1...40).map { Device.ios($0) }) { stage in
      for id in [4, 9] { try await stage.put(.ios(id), "unknown") }
      let zonai = try await stage.zonai()
      var message = PushMessage.hello
      message.pushType = .voip
      let job = try await zonai.push(message, to: stage.audience)
      let done = try await zonai.drained(job.id)
      #expect(done.counts.delivered == 38)
      #expect(try stage.cleared.isEmpty)
      #expect(done.details(.transientlyFailed).contains { $0.contains("voip") })
      #expect(try await stage.requests("apns-sandbox") == 0)
    }
  }

  @Test(arguments: [true, false])
  func `tokens that are said to be of this environment are believed, others are kept where nothing can be asked`(
    _ isSaid: Bool
  ) async throws {
    try await Stage.with((1...40).map { Device.ios($0) }) { stage in
      for id in [4, 9] { try await stage.put(.ios(id), "unknown") }
      let apns = try await stage.apns {
        $0.otherEndpoint = nil
        $0.allTokensAreOfThisEnvironment = isSaid
      }
      let done = try await stage.zonai([apns]).push(to: stage.audience)
      #expect(try stage.cleared == (isSaid ? [4, 9] : []))
      #expect(done.counts.transientlyFailed == (isSaid ? 0 : 2))
      #expect(try await stage.requests("apns-sandbox") == 0)
    }
  }

  @Test func `checks keep to the job's budget of an hour, and what is above it is kept`() async throws {
    try await Stage.with((1...1600).map { Device.ios($0) }) { stage in
      let bad = Array(stride(from: 7, through: 1600, by: 7))
      for id in bad { try await stage.put(.ios(id), "unknown") }
      let done = try await stage.zonai().push(to: stage.audience)
      #expect(try await stage.requests("apns-sandbox") == 200)
      #expect(try stage.cleared.count == 200)
      #expect(done.counts.transientlyFailed == bad.count - 200)
      #expect(done.details(.transientlyFailed).contains { $0.contains("used up") })
    }
  }

  @Test(arguments: ["silence", "503", "410"])
  func `any answer but BadDeviceToken there keeps the row`(_ answer: String) async throws {
    try await Stage.with((1...40).map { Device.ios($0) }) { stage in
      try await stage.put(.ios(4), "unknown")
      switch answer {
      case "silence": try await stage.fault(["lane": "apns-sandbox", "action": "silence"])
      case "503":
        try await stage.fault(["lane": "apns-sandbox", "status": 503, "body": ["reason": "ServiceUnavailable"]])
      default:
        try await stage.fault(
          ["lane": "apns-sandbox", "status": 410, "body": ["reason": "Unregistered", "timestamp": 1_700_000_000_000]])
      }
      let apns = try await stage.apns { $0.requestTimeout = 1500 }
      let done = try await stage.zonai([apns]).push(to: stage.audience)
      #expect(done.state == .completed)
      #expect(try stage.cleared.isEmpty)
      #expect(done.counts.transientlyFailed == 1)
    }
  }

  @Test func `a check shows nothing on the device and is not stored`() async throws {
    try await Stage.with((1...20).map { Device.ios($0) }) { stage in
      try await stage.put(.ios(4), "otherEnvironment")
      _ = try await stage.zonai().push(to: stage.audience)
      let messages = try await stage.simulator.control("GET", "/inbox?lane=apns-sandbox")["messages"]?.array ?? []
      #expect(messages.count == 1)
      #expect(messages.first?["body"] == ["aps": [:]])
      let headers = messages.first?["headers"]
      #expect(headers?["apns-expiration"] == "0")
      #expect(headers?["apns-push-type"] == "alert")
      #expect(headers?["apns-topic"] == "dev.zonai.simulated")
    }
  }
}
