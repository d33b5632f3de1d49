import ZonaiCore
import ZonaiJSON

/// The two jobs of the demonstration, and what must have come of them.
extension Demo {
  private static func push(_ words: String...) -> [String] {
    ["zonai", "push", "--store", storeURL, "--simulator", "simulator"] + words
      + ["--title", message.title ?? "", "--body", message.body ?? "", "--data", "issue=42", "--wait"]
  }

  /// Over both platforms, while Apple's key has lapsed: Android is sent to, the job fails and keeps its place.
  func pushWithLapsedKey(_ before: [[String?]]) async throws -> Job {
    script.step(
      "Send to every device. Expected: FCM delivers; APNs refuses the key; the job fails and no iOS row is touched.",
      Demo.push("--table", "device_tokens", "--token-column", "token", "--platform-column", "platform"))
    let job = try await zonai { zonai in
      let job = try await zonai.push(Demo.message, to: Demo.devices)
      return try await zonai.run(only: job.id)
    }
    script.detail("job \(job.id) \(job.state.rawValue): \(JobAccount.line(job.counts, owed: job.owed))")
    script.detail("since \(job.error?.detail ?? "nobody knows why")")
    let after = try rows(Demo.devicesQuery)
    let ios = before.indices.filter { before[$0][2] == "ios" }
    script.expect("the job fails while the key is revoked, naming the credential", job.error?.code == .credentials)
    script.expect("no iOS row is touched by a lapsed key", ios.allSatisfy { before[$0] == after[$0] })
    script.expect("every iOS device is still owed", job.owed >= ios.count)
    return job
  }

  /// The key is replaced, and the job goes on with those who are owed.
  func resume(_ job: Job) async throws {
    let shownId = job.id.rawValue
    script.step("A new key from Apple. Resume: exactly those who are owed are sent to.")
    try await control(
      "POST", "/credentials", ["lane": "apns", "action": "rotate"], "writes it into simulator/")
    script.detail("$ zonai jobs resume \(shownId) --store \(Demo.storeURL)")
    script.detail("$ zonai work --store \(Demo.storeURL) --simulator simulator --once")
    let ended = try await zonai { zonai in
      try await zonai.resume(job.id)
      return try await zonai.run(only: job.id)
    }
    report(ended)
    script.detail("(in passing: the throttled one, after three attempts; its row stays as it is)")
    let dead = DemoData.uninstalledDevices.count
    expect(ended, delivered: DemoData.devices.count - dead - 1, pruned: dead, transientlyFailed: 1)
  }

  /// The same for a table of people: the row stays, only the token goes.
  func pushToUsers() async throws {
    script.step(
      "The same for the active users: somebody's row stays, only the token goes (clearColumn, the default).",
      Demo.push(
        "--table", "users", "--token-column", "push_token", "--platform-column", "phone", "--where", "active = 1"))
    let job = try await zonai { zonai in
      let job = try await zonai.push(Demo.message, to: Demo.users)
      return try await zonai.run(only: job.id)
    }
    report(job)
    expect(job, delivered: DemoData.readers.count { $0.isActive } - 1, pruned: 1, transientlyFailed: 0)
  }

  private func report(_ job: Job) {
    script.detail("job \(job.id) \(job.state.rawValue): \(JobAccount.line(job.counts, owed: job.owed))")
  }

  private func expect(_ job: Job, delivered: Int, pruned: Int, transientlyFailed: Int) {
    let (counts, table) = (job.counts, job.definition.audience.table)
    script.expect("the job over \(table) is completed", job.state == .completed)
    script.expect("\(delivered) of \(table) were delivered to, not \(counts.delivered)", counts.delivered == delivered)
    script.expect("\(pruned) rows of \(table) were pruned, not \(counts.pruned)", counts.pruned == pruned)
    script.expect(
      "\(transientlyFailed) of \(table) failed in passing, not \(counts.transientlyFailed)",
      counts.transientlyFailed == transientlyFailed)
    script.expect("nobody of \(table) is owed", job.owed == 0)
  }

  // MARK: Afterwards

  func showAfterwards(_ before: (devices: [[String?]], users: [[String?]])) async throws {
    script.say("\nAfterwards:")
    let after = (devices: try rows(Demo.devicesQuery), users: try rows(Demo.usersQuery))
    script.say(DemoTable.text(after.devices, before: before.devices))
    script.say("")
    script.say(DemoTable.text(after.users, before: before.users))

    let cleared = Set(DemoData.uninstalledDevices.map { String($0) })
    script.expect(
      "exactly the uninstalled devices' tokens are gone",
      Set(after.devices.filter { $0[4] == nil }.compactMap { $0[0] }) == cleared)
    script.expect(
      "exactly the uninstalled user's token is gone",
      after.users.filter { $0[4] == nil }.map { $0[0] } == [String(DemoData.uninstalledReader)])
    let inbox = try await simulator.control("GET", "/status")["inbox"]
    let devices = DemoData.devices.count - DemoData.uninstalledDevices.count - 1
    let readers = DemoData.readers.count { $0.isActive } - 1
    script.expect("every delivery is one message in the inbox", inbox?["total"]?.integer == Int64(devices + readers))
    script.expect("nobody got it twice", inbox?["repeated"]?.integer == 0)
  }
}
