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

/// Several configurations on one database: none sends to the recipients of another's jobs.
@Suite(.timeLimit(.minutes(5))) struct AppsTests {
  /// One difference between two configurations, and how each is told.
  struct Difference: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let project: String?
    let sandbox: Bool
    let words: [String]
  }

  static let differences = [
    Difference(
      testDescription: "another Firebase project", project: "another-project", sandbox: false,
      words: ["FCM project another-project at a test server"]),
    Difference(
      testDescription: "another environment", project: nil, sandbox: true,
      words: ["APNs production, team", "APNs sandbox, team"]),
  ]

  @Test(arguments: AppStage.Kind.there, differences)
  func `push and work of another configuration are refused, and do nothing`(
    _ kind: AppStage.Kind, _ difference: Difference
  ) async throws {
    try await AppStage.with(kind) { stage in
      let first = try stage.configuration("first")
      let other = try stage.configuration("other", project: difference.project, sandbox: difference.sandbox)
      let id = try await stage.push(first)
      let before = try await stage.show(id)
      for words in [["work", "--once", "--json"], stage.pushWords, stage.pushWords + ["--dry-run"]] {
        let refused = try await stage.zonai(words + other)
        #expect(refused.code == 2, "\(refused.errors)")
        #expect(refused.failure.code == "otherBinding")
        let sentence = refused.failure.message ?? ""
        #expect(sentence.contains("the default app is bound to "), "\(sentence)")
        for words in difference.words + ["--app NAME", "zonai apps rebind --config FILE"] {
          #expect(sentence.contains(words), "\(sentence)")
        }
      }
      #expect(try await stage.show(id) == before)
      #expect(before["state"] == "pending")
      #expect(try await stage.zonai("jobs", "list", "--json").json["jobs"]?.array?.count == 1)
      #expect(try await stage.zonai("workers", "--json").json["workers"]?.array?.isEmpty == true)
      #expect(try await stage.accepted == 0)
      // Its own workers do it.
      let worked = try await stage.zonai(["work", "--once"] + first)
      #expect(worked.code == 0, "\(worked.errors)")
      #expect(try await stage.show(id)["delivered"]?.integer == 21)
    }
  }

  @Test(arguments: AppStage.Kind.there)
  func `each configuration works under an app of its own`(_ kind: AppStage.Kind) async throws {
    try await AppStage.with(kind) { stage in
      let production = try stage.configuration("production")
      let sandbox = try stage.configuration("sandbox", sandbox: true, app: "ios-dev")
      let first = try await stage.push(production)
      let second = try await stage.push(sandbox)
      // The option counts more than the file.
      let third = try await stage.push(sandbox + ["--app", "third"])
      #expect(try await stage.show(second)["app"] == "ios-dev")
      #expect(try await stage.show(third)["app"] == "third")
      let worked = try await stage.zonai(["work", "--once"] + sandbox)
      #expect(worked.code == 0, "\(worked.errors)")
      #expect(worked.output == "job \(second) completed: 21 delivered\n")
      #expect(worked.errors.contains("the default app has 1 open job and no live worker"), "\(worked.errors)")
      #expect(worked.errors.contains("the app 'third' has 1 open job and no live worker"), "\(worked.errors)")
      #expect(try await stage.show(first)["state"] == "pending")
      let waiting = try await stage.zonai("jobs", "show", third)
      #expect(waiting.output.contains("no live worker serves the app 'third': start one with 'zonai work --app third"))
      let listed = try await stage.zonai("jobs", "list", "--app", "third", "--json")
      #expect(try listed.json["jobs"]?.array?.compactMap { $0["id"]?.string } == [third])

      let apps = try #require(try await stage.zonai("apps", "list", "--json").json["apps"]?.array)
      #expect(apps.compactMap { $0["app"]?.string } == ["", "ios-dev", "third"])
      #expect(apps.compactMap { $0["open_jobs"]?.integer } == [1, 0, 1])
      let told = try await stage.zonai("apps", "list").output
      #expect(told.contains("the app 'third': 1 open job, 0 live workers; nothing works on them"), "\(told)")
      #expect(told.contains("APNs sandbox, team"), "\(told)")
      #expect(try await stage.zonai(["work", "--once"] + production).code == 0)
      #expect(try await stage.show(first)["delivered"]?.integer == 21)
    }
  }

  @Test(arguments: AppStage.Kind.there)
  func `two workers of two apps each do their own jobs, and are listed with their app`(
    _ kind: AppStage.Kind
  ) async throws {
    try await AppStage.with(kind) { stage in
      let lanes = try stage.configuration("lanes")
      let workers = try ["one", "two"].map { try stage.start(["work", "--json", "--app", $0] + lanes) }
      for worker in workers { #expect(worker.standardError.waitFor("started with")) }
      var ids: [String] = []
      for app in ["one", "two", "two", "one"] { ids.append(try await stage.push(lanes + ["--app", app])) }
      for id in ids { try await eventually { try await stage.show(id)["state"] == "completed" } }
      let listed = try await stage.zonai("workers", "--json").json["workers"]?.array ?? []
      #expect(Set(listed.compactMap { $0["app"]?.string }) == ["one", "two"])
      #expect(try await stage.zonai("workers", "--app", "one", "--json").json["workers"]?.array?.count == 1)
      for (worker, own) in zip(workers, [[0, 3], [1, 2]]) {
        worker.signal(SIGTERM)
        let ending = try await worker.end()
        #expect(ending.code == 0, "\(ending.errors)")
        #expect(ids.indices.filter { ending.output.contains(ids[$0]) } == own, "\(ending.output)")
      }
    }
  }

  @Test(arguments: AppStage.Kind.there)
  func `a rebind ends the workers of the old configuration, and a resume must be told`(
    _ kind: AppStage.Kind
  ) async throws {
    try await AppStage.with(kind) { stage in
      let old = try stage.configuration("old", app: "shop")
      let new = try stage.configuration("new", sandbox: true, app: "shop")
      try await stage.put(AppStage.apple, ["state": "throttled", "retryAfterSeconds": 600])
      let id = try await stage.push(old)
      let worker = try stage.start(["work"] + old)
      try await eventually { try await stage.show(id)["owed"]?.integer == 1 }

      let rebound = try await stage.zonai(["apps", "rebind", "shop", "--json"] + new)
      #expect(rebound.code == 0, "\(rebound.errors)")
      #expect(try rebound.json["failed_jobs"]?.integer == 1)
      #expect(try rebound.json["changes"]?.array?.count == 1)
      let ending = try await worker.end()
      #expect(ending.code == 1, "\(ending.errors)")
      #expect(ending.errors.contains("the app 'shop' is bound to APNs sandbox, team"), "\(ending.errors)")
      #expect(ending.errors.contains("but this worker sends as APNs production, team"), "\(ending.errors)")

      #expect(!ending.errors.contains("given up"), "\(ending.errors)")
      let text = try await stage.zonai("jobs", "show", id).output
      #expect(text.contains("'zonai jobs resume \(id) --rebound' goes on from there"), "\(text)")
      let stopped = try await stage.show(id)
      #expect(stopped["state"] == "failed")
      #expect(stopped["error"]?["code"] == "rebound")
      #expect(stopped["delivered"]?.integer == 20)
      let told = stopped["error"]?["message"]?.string ?? ""
      #expect(told.contains("APNs production, team") && told.contains("APNs sandbox, team"), "\(told)")
      let late = try await stage.zonai(["work", "--once", "--json"] + old)
      #expect(late.code == 2)
      #expect(late.failure.code == "otherBinding")

      let refused = try await stage.zonai("jobs", "resume", id, "--json")
      #expect(refused.code == 2)
      #expect(refused.failure.code == "otherBinding")
      #expect(refused.failure.message?.contains("--rebound") == true)
      #expect(try await stage.show(id)["state"] == "failed")
      #expect(try await stage.zonai("jobs", "resume", id, "--rebound").code == 0)
      try await stage.put(AppStage.apple, ["state": "active"])
      // The service asked for ten minutes: what was owed waits for them, the job is the new
      // configuration's all the same.
      let worked = try await stage.zonai(["work", "--once"] + new)
      #expect(worked.errors.contains("1 recipient is owed later"), "\(worked.errors)")
      let resumed = try await stage.show(id)
      #expect(resumed["state"] == "running")
      #expect(resumed["identities"]?.array?.contains { $0["environment"] == "sandbox" } == true, "\(resumed.text)")
    }
  }

  @Test func `an app that nothing has used is not rebound, and names that are none are refused`() async throws {
    try await AppStage.with(.sqlite) { stage in
      let lanes = try stage.configuration("lanes")
      let unknown = try await stage.zonai(["apps", "rebind", "shop", "--json"] + lanes)
      #expect(unknown.code == 2)
      #expect(unknown.failure.code == "notFound")
      for words in [["apps", "rebind", "a b"] + lanes, ["work", "--once", "--app", "a/b"] + lanes] {
        let refused = try await stage.zonai(words + ["--json"])
        #expect(refused.code == 2)
        #expect(refused.failure.message?.contains("cannot be the name of an app: use at most 64") == true)
      }
      let file = try stage.configuration("bad", app: "-")
      let configured = try await stage.zonai(["work", "--once", "--json"] + file)
      #expect(configured.code == 2)
      #expect(configured.failure.message?.contains("'app': '-' cannot be the name of an app") == true)
      #expect(try await stage.zonai("apps", "list").errors.contains("no apps yet"))
    }
  }

  /// Asks again and again: another process does it.
  private func eventually(_ isSo: () async throws -> Bool) async throws {
    for _ in 0..<600 {
      if try await isSo() { return }
      try await Task.sleep(for: .milliseconds(100))
    }
    Issue.record("it did not happen within a minute")
  }
}
