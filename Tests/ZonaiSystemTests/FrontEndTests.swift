import Testing
import ZonaiCore
import ZonaiJSON

/// Answers of Google's front end, of proxies and of portals, in place of the service's own.
@Suite(.timeLimit(.minutes(3)))
struct FrontEndTests {
  struct Burst: Sendable, CustomTestStringConvertible {
    let status: Int64
    let body: String
    let times: Int64
    var testDescription: String { "\(times) x \(status) '\(body.prefix(12))'" }
  }

  static let bursts = [
    Burst(status: 408, body: "", times: 400), Burst(status: 408, body: "", times: 1),
    Burst(status: 408, body: "<html>408</html>", times: 400), Burst(status: 425, body: "{}", times: 100),
    Burst(status: 499, body: "", times: 100), Burst(status: 503, body: "", times: 400),
    Burst(status: 404, body: "<html>not found</html>", times: 90),
    Burst(status: 403, body: "{\"ok\":false}", times: 90),
    Burst(status: 401, body: "", times: 90), Burst(status: 400, body: "<html>bad</html>", times: 90),
    Burst(status: 302, body: "", times: 1),
  ]

  @Test(arguments: bursts)
  func `a burst among three thousand deliveries costs no recipient the message and fails no job`(
    _ burst: Burst
  ) async throws {
    let devices = (1...3000).map { Device.android($0) }
    try await Stage.with(devices) { stage in
      try await stage.fault([
        "lane": "fcm", "after": 500, "times": .integer(burst.times), "status": .integer(burst.status),
        "body": .string(burst.body),
      ])
      let zonai = try await stage.zonai([stage.fcm()])
      var job = try await zonai.push(to: stage.audience)
      // A recipient that the burst met three times waits as in an outage.
      for _ in 0..<3 where job.state == .running {
        stage.turn(seconds: 700)
        job = try await zonai.drained(job.id)
      }
      #expect(job.state == .completed, "\(job.error?.detail ?? "")")
      #expect(job.counts.delivered == 3000)
      let inbox = try await stage.inbox
      #expect(inbox.recipients == 3000)
      #expect(inbox.repeated == 0)
      #expect(try await stage.requests("fcm") == 3000 + Int(burst.times))
      #expect(try await stage.requests("oauth") == 1, "no credential was refused")
      #expect(try stage.cleared.isEmpty)
    }
  }

  /// What a portal, a proxy or another server answers to all, and what the job's error names.
  static let elsewhere: [(JSON, String, String)] = [
    (["lane": "fcm", "status": 404, "body": "<html>not here</html>"], "fcm", "FCM endpoint"),
    (["lane": "fcm", "status": 200, "body": "<html>sign in</html>", "deliver": false], "fcm", "FCM endpoint"),
    (["lane": "fcm", "status": 302, "body": ""], "fcm", "FCM endpoint"),
    (["lane": "fcm", "status": 401, "body": ""], "fcm", "fcm.serviceAccount"),
    (["lane": "fcm", "status": 403, "body": ["error": ["code": 403, "message": "Forbidden"]]], "fcm", "FCM endpoint"),
    (["lane": "apns", "status": 404, "body": "<html>not here</html>"], "apns", "APNs endpoint"),
    (["lane": "oauth", "status": 403, "body": "<html>blocked</html>"], "fcm", "OAuth endpoint"),
  ]

  @Test(arguments: elsewhere)
  func `the same answer for all recipients and nothing else fails the job, naming the setting`(
    _ fault: JSON, _ lane: String, _ names: String
  ) async throws {
    let devices = (1...300).map { lane == "fcm" ? Device.android($0) : .ios($0) }
    try await Stage.with(devices) { stage in
      try await stage.fault(fault)
      let before = try stage.rows
      let zonai = try await stage.zonai([lane == "fcm" ? stage.fcm() : stage.apns()])
      let stopped = try await zonai.push(to: stage.audience)
      #expect(stopped.state == .failed)
      #expect(stopped.error?.code == .configuration)
      #expect(stopped.error?.detail.contains(names) == true, "\(stopped.error?.detail ?? "")")
      #expect(stopped.counts.settled == 0)
      #expect(stopped.owed == 50)
      #expect(try await stage.requests(lane) <= 150, "three attempts for the first, small batch")
      #expect(try stage.rows == before)

      try await stage.forgetFaults()
      try await zonai.resume(stopped.id)
      let done = try await zonai.drained(stopped.id)
      #expect(done.state == .completed)
      #expect(done.counts.delivered == 300)
    }
  }

  @Test(
    arguments: [
      ["lane": "oauth", "status": 400, "body": ["error": "solar_flare"]], ["lane": "oauth", "status": 418, "body": ""],
      ["lane": "oauth", "status": 408, "body": "<html>"], ["lane": "oauth", "status": 503],
    ] as [JSON])
  func `a token endpoint with an unknown answer counts no recipient out, whatever it says and however long`(
    _ fault: JSON
  ) async throws {
    let devices = (1...120).map { Device.android($0) }
    try await Stage.with(devices) { stage in
      // A job that was delivered before: the lane worked, and works no more.
      let zonai = try await stage.zonai([stage.fcm()])
      _ = try await zonai.push(to: stage.audience)
      try await stage.credentials("fcm", "expire")
      try await stage.fault(fault)
      var job = try await zonai.push(to: stage.audience)
      for round in 1...3 {
        #expect(job.state == .running, "\(job.error?.detail ?? "")")
        #expect(job.counts.settled == 0)
        #expect(job.owed > 0)
        stage.turn(seconds: 700)
        if round == 3 { try await stage.forgetFaults() }
        job = try await zonai.drained(job.id)
      }
      #expect(job.state == .completed)
      #expect(job.counts.delivered == 120)
    }
  }
}
