import Testing
import ZonaiJSON

/// Whole jobs from the shell, against the simulator.
struct FlowTests {
  @Test func `push records, work sends, and the dead are cleared`() async throws {
    let scene = try await Scene()
    try await scene.put(2, ["state": "uninstalled"])
    try await scene.put(3, ["state": "uninstalled"])
    let pushed = try await scene.push("--json")
    #expect(pushed.code == 0)
    let id = try #require(try pushed.json["id"]?.string)
    #expect(try pushed.json["work"]?.string?.hasPrefix("zonai work --store sqlite:") == true)

    let worked = try await Shell.run(scene.workWords + ["--once", "--json"])
    #expect(worked.code == 0)
    let events = try worked.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
    #expect(events.contains { $0["event"] == "ended" && $0["id"]?.string == id && $0["state"] == "completed" })
    #expect(events.filter { $0["event"] == "rejected" }.count == 2)
    #expect(events.last?["event"] == "stopped")
    #expect(try scene.cleared == ["2", "3"])

    let shown = try await Shell.run("jobs", "show", id, "--store", scene.store, "--json")
    let job = try shown.json
    let expected: [(String, Int64)] = [
      ("delivered", 8), ("permanently_rejected", 2), ("transiently_failed", 0), ("expired", 0), ("pruned", 2),
      ("spared", 0), ("kept", 0), ("owed", 0),
    ]
    for (name, count) in expected { #expect(job[name]?.integer == count, "\(name)") }
    #expect(job["id"]?.string == id)
    #expect(job["state"] == "completed")
    #expect(job["error"] == .null)
    #expect(job["message"]?["title"] == "Hello")
    let listed = try await Shell.run("jobs", "list", "--store", scene.store, "--json")
    #expect(try listed.json["jobs"]?[0]?["id"]?.string == id)
    #expect(try await scene.simulator.control("GET", "/status")["inbox"]?["repeated"]?.integer == 0)
  }

  @Test func `without JSON the id is all of standard output, and the next line to run is shown`() async throws {
    let scene = try await Scene(devices: 2)
    let pushed = try await scene.push()
    let id = String(pushed.output.dropLast())
    #expect(!id.contains(" ") && !id.contains("\n"))
    #expect(pushed.errors.contains("zonai work --store \(scene.store) --simulator \(scene.simulator.directory) --once"))
    let worked = try await Shell.run(scene.workWords + ["--once"])
    #expect(worked.output == "job \(id) completed: 2 delivered\n")
    #expect(try await Shell.run("jobs", "show", id, "--store", scene.store).output.contains("state      completed"))
    #expect(try await Shell.run("jobs", "list", "--store", scene.store).output.hasPrefix("\(id)  completed  devices"))
  }

  @Test func `wait works on the job at once`() async throws {
    let scene = try await Scene()
    try await scene.put(1, ["state": "uninstalled"])
    let ending = try await scene.push("--wait", "--json", "--where", "id < 6")
    #expect(ending.code == 0)
    let job = try ending.json
    #expect(job["state"] == "completed")
    #expect(job["delivered"]?.integer == 4)
    #expect(try scene.cleared == ["1"])
  }

  @Test func `a dry run counts by platform and lane, shows sizes, and writes nothing`() async throws {
    let scene = try await Scene(devices: 9)
    let before = try scene.folder.bytes("app.db")
    let ending = try await scene.push("--dry-run", "--json")
    #expect(ending.code == 0)
    let estimate = try ending.json
    #expect(estimate["recipients"]?.integer == 9)
    #expect(estimate["key"] == ["id"])
    #expect(
      estimate["platforms"] == [
        ["platform": "android", "transport": "fcm", "recipients": 5],
        ["platform": "ios", "transport": "apns", "recipients": 4],
      ])
    #expect(estimate["sizes"]?.array?.compactMap { $0["limit"]?.integer } == [4096, 4096])
    #expect(try scene.folder.bytes("app.db") == before)
    #expect(try await scene.simulator.control("GET", "/status")["inbox"]?["total"]?.integer == 0)
    #expect(try await scene.push("--dry-run").output.contains("9 recipients in devices, paged by id"))
  }

  @Test(arguments: [("clearColumn", 1, 10, 1), ("deleteRow", 1, 9, 0), ("none", 0, 10, 0)])
  func `the policy decides what becomes of the row`(
    _ policy: String, pruned: Int, rows: Int, cleared: Int
  ) async throws {
    let scene = try await Scene()
    try await scene.put(2, ["state": "uninstalled"])
    let ending = try await scene.push("--wait", "--json", "--policy", policy)
    #expect(ending.code == 0)
    #expect(try ending.json["permanently_rejected"]?.integer == 1)
    #expect(try ending.json["pruned"]?.integer == Int64(pruned))
    #expect(try ending.json["kept"]?.integer == Int64(1 - pruned))
    #expect(try scene.database.column("SELECT count(*) FROM devices") == ["\(rows)"])
    #expect(try scene.cleared.count == cleared)
  }

  @Test func `a lapsed key fails the job, and a resume with the new one sends to who is owed`() async throws {
    let scene = try await Scene()
    try await scene.simulator.control("POST", "/credentials", ["lane": "apns", "action": "revoke"])
    let failed = try await scene.push("--wait", "--json")
    #expect(failed.code == 1)
    let id = try #require(try failed.json["id"]?.string)
    #expect(try failed.json["state"] == "failed")
    #expect(try failed.json["error"]?["code"] == "credentials")
    #expect(try failed.json["delivered"]?.integer == 5)
    #expect(try scene.cleared.isEmpty)

    try await scene.simulator.control("POST", "/credentials", ["lane": "apns", "action": "rotate"])
    let resumed = try await Shell.run("jobs", "resume", id, "--store", scene.store, "--json")
    #expect(try resumed.json["state"] == "running")
    #expect(try await Shell.run(scene.workWords + ["--once"]).code == 0)
    let inbox = try await scene.simulator.control("GET", "/status")["inbox"]
    #expect(inbox?["total"]?.integer == 10)
    #expect(inbox?["repeated"]?.integer == 0)
  }

  @Test(arguments: [("keep", 0, 5), ("prune", 5, 0)])
  func `a group that answers as if all its tokens were bad is the operator's to judge`(
    _ suspects: String, pruned: Int, transient: Int
  ) async throws {
    let scene = try await Scene()
    for id in [2, 4, 6, 8, 10] { try await scene.put(id, ["state": "otherEnvironment"]) }
    let failed = try await scene.push("--wait", "--json")
    #expect(failed.code == 1)
    let id = try #require(try failed.json["id"]?.string)
    #expect(try failed.json["error"]?["code"] == "suspects")
    #expect(try failed.json["error"]?["message"]?.string?.contains("useSandbox") == true)
    #expect(try scene.cleared.isEmpty)

    let resumed = try await Shell.run("jobs", "resume", id, "--suspects", suspects, "--store", scene.store)
    #expect(resumed.code == 0)
    #expect(try await Shell.run(scene.workWords + ["--once"]).code == 0)
    let job = try await Shell.run("jobs", "show", id, "--store", scene.store, "--json").json
    #expect(job["state"] == "completed")
    #expect(job["pruned"]?.integer == Int64(pruned))
    #expect(job["transiently_failed"]?.integer == Int64(transient))
    #expect(try scene.cleared.count == pruned)
  }

  @Test func `a cancelled job keeps its place and can be resumed`() async throws {
    let scene = try await Scene(devices: 4)
    let id = try #require(try await scene.push("--json").json["id"]?.string)
    let cancelled = try await Shell.run("jobs", "cancel", id, "--store", scene.store, "--json")
    #expect(try cancelled.json["state"] == "cancelled")
    #expect(try await Shell.run(scene.workWords + ["--once"]).code == 0)
    #expect(try await scene.simulator.control("GET", "/status")["inbox"]?["total"]?.integer == 0)
    #expect(try await Shell.run("jobs", "resume", id, "--store", scene.store).code == 0)
    #expect(try await Shell.run(scene.workWords + ["--once"]).code == 0)
    let again = try await Shell.run("jobs", "cancel", id, "--store", scene.store, "--json")
    #expect(again.code == 2)
    #expect(again.failure.code == "wrongState")
  }

  @Test func `a worker without the job's lane leaves it alone and says so`() async throws {
    let scene = try await Scene()
    let id = try #require(try await scene.push("--json").json["id"]?.string)
    let file = try scene.configuration(adding: ["apns": .null])
    let worked = try await Shell.run(scene.workWords + ["--config", file, "--once"])
    #expect(worked.errors.contains("no lane here for job \(id)"))
    #expect(try await scene.simulator.control("GET", "/status")["inbox"]?["total"]?.integer == 0)
  }

  @Test func `once says when somebody is owed later`() async throws {
    let scene = try await Scene(devices: 4)
    try await scene.put(1, ["state": "throttled", "retryAfterSeconds": 300])
    _ = try await scene.push()
    let worked = try await Shell.run(scene.workWords + ["--once"])
    #expect(worked.code == 1)
    #expect(worked.errors.contains("1 recipient is owed later, the first in"), "\(worked.errors)")
  }

  @Test func `a message file has every field, and options add to it`() async throws {
    let scene = try await Scene(devices: 2)
    let file = try scene.folder.write(
      "message.json",
      """
      { "title": "From a file", "data": { "a": "1" }, "badge": 3, "sound": "default", "priority": "high",
        "apnsOverride": { "aps": { "relevance-score": 0.5 } } }
      """)
    let words = ["--message", file, "--data", "b=2", "--collapse-key", "news", "--ttl", "600", "--wait"]
    let ending = try await Shell.run(scene.pushWords.dropLast(4) + words)
    #expect(ending.code == 0)
    let inbox = try await scene.simulator.control("GET", "/inbox?limit=9")["messages"]?.array ?? []
    let apns = try #require(inbox.first { $0["lane"] == "apns" })
    #expect(apns["body"]?["aps"]?["alert"]?["title"] == "From a file")
    #expect(apns["body"]?["aps"]?["relevance-score"]?.number == 0.5)
    #expect(apns["body"]?["b"] == "2")
    #expect(apns["headers"]?["apns-collapse-id"] == "news")
    let fcm = try #require(inbox.first { $0["lane"] == "fcm" })
    #expect(fcm["body"]?["message"]?["data"] == ["a": "1", "b": "2"])
  }

  @Test(arguments: [
    (#"{"titel": "x"}"#, "there is no field 'titel'; did you mean title?"),
    (#"{"data": {"a": 1}}"#, "'data.a' must be text, and is 1"),
    (#"{"badge": -1}"#, "'badge' must be a whole number"),
    (#"{"fcmOverride": "x"}"#, "'fcmOverride' must be an object, and is text"),
    (#"{"#, "is not JSON"),
  ])
  func `a message file with a mistake is refused`(text: String, sentence: String) async throws {
    let folder = try Folder()
    let file = try folder.write("message.json", text)
    let ending = try await Shell.run(
      "push", "--store", "sqlite:x", "--config", "x", "--table", "t", "--token-column", "c", "--message", file, "--json"
    )
    #expect(ending.code == 2)
    #expect(ending.failure.code == "message")
    #expect(ending.failure.message?.contains(sentence) == true)
  }
}
