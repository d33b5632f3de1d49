import Testing
import ZonaiCore
import ZonaiJSON
import ZonaiSimulator

/// Credentials that lapse, single refusals, and lanes that are missing.
@Suite(.timeLimit(.minutes(3)))
struct CredentialTests {
  private static func mixed(_ count: Int) -> [Device] {
    (1...count).map { $0 % 2 == 0 ? .ios($0) : .android($0) }
  }

  /// Ends the lane's credential while requests of a mixed batch are under way, and lets the job run into it.
  private func lapse(
    _ lane: String, in stage: Stage, batchSize: Int, after answered: Int
  ) async throws -> (Zonai, Job) {
    // Then answers take their time, so that the key lapses while some are under way.
    try await stage.fault(["lane": .string(lane), "after": .integer(Int64(answered)), "times": 100, "delayMs": 3000])
    try await stage.simulator.control(
      "POST", "/credentials", ["lane": "apns", "providerTokenUpdateSeconds": 0])
    let zonai = try await stage.zonai(options: {
      $0.batchSize = batchSize
      $0.firstBatchSize = batchSize
      $0.batchesInFlight = 1
    })
    let job = try await zonai.push(.hello, to: stage.audience)
    async let drained = zonai.drained(job.id)
    try await eventually("requests under way") { try await stage.requests(lane) > answered }
    try await stage.credentials(lane, "revoke")
    // What FCM issued under the key stays good for an hour, unless it is ended too.
    if lane == "fcm" { try await stage.credentials(lane, "expire") }
    let stopped = try await drained
    try await stage.forgetFaults()
    return (zonai, stopped)
  }

  @Test(arguments: [("fcm", "fcm.serviceAccount"), ("apns", "apns.keyFile")])
  func
    `a key that lapses in the middle of a mixed batch fails the job, and resumed with the new one it owes exactly the rest`(
      lane: String, setting: String
    ) async throws
  {
    var options = SimulatorOptions()
    // APNs would take a thousand at once, and all of the batch before the key lapses.
    options.apnsStreamLimit = 50
    let devices = CredentialTests.mixed(800)
    try await Stage.with(devices, options: options) { stage in
      let before = try stage.rows
      let (zonai, stopped) = try await lapse(lane, in: stage, batchSize: 800, after: 100)
      #expect(stopped.state == .failed)
      #expect(stopped.error?.code == .credentials)
      #expect(stopped.error?.detail.contains(setting) == true, "\(stopped.error?.detail ?? "")")
      #expect(stopped.counts.permanentlyRejected == 0)
      #expect(stopped.counts.delivered + stopped.owed == 800)
      #expect(stopped.counts.delivered > 0)
      #expect(stopped.owed > 0)
      #expect(try await stage.inbox.total == stopped.counts.delivered)
      #expect(try stage.rows == before)

      try await stage.credentials(lane, "rotate")
      // FCM's file was replaced in its place and is read again; APNs' new key has another id, so the worker is another.
      let next = lane == "fcm" ? zonai : try await stage.zonai()
      try await next.resume(stopped.id)
      let done = try await next.drained(stopped.id)
      #expect(done.state == .completed)
      #expect(done.counts.delivered == 800)
      let inbox = try await stage.inbox
      #expect(inbox.recipients == 800)
      #expect(inbox.repeated == 0, "nobody who was delivered to is sent to again")
      #expect(try stage.rows == before)
    }
  }

  @Test(arguments: ["fcm", "apns"])
  func `a key revoked in the middle of a job fails it although earlier batches were accepted`(
    lane: String
  ) async throws {
    let devices = (1...300).map { lane == "fcm" ? Device.android($0) : .ios($0) }
    try await Stage.with(devices) { stage in
      let (_, stopped) = try await lapse(lane, in: stage, batchSize: 50, after: 110)
      #expect(stopped.state == .failed)
      #expect(stopped.error?.code == .credentials)
      #expect(stopped.counts.delivered >= 100, "two batches were through")
      #expect(stopped.counts.settled == stopped.counts.delivered)
      #expect(try await stage.inbox.total == stopped.counts.delivered)
      #expect(try stage.cleared.isEmpty)
    }
  }

  /// Refusals of the credential that only one device gets.
  static let oddOnes: [(String, JSON)] = [
    (
      "fcm",
      GoogleError.fault(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
    ),
    ("fcm", ["lane": "fcm", "status": 401]),
    ("fcm", ["lane": "fcm", "status": 403]),
    ("apns", ["lane": "apns", "status": 403, "body": ["reason": "InvalidProviderToken"]]),
    ("apns", ["lane": "apns", "status": 403, "body": ["reason": "Forbidden"]]),
  ]

  @Test(arguments: oddOnes, [1, 20, 40])
  func `one odd refusal among deliveries fails nothing, wherever it stands`(
    _ odd: (lane: String, answer: JSON), place: Int
  ) async throws {
    let devices = (1...40).map { odd.lane == "fcm" ? Device.android($0) : .ios($0) }
    try await Stage.with(devices) { stage in
      var fault = odd.answer.object ?? [:]
      fault["token"] = .string(devices[place - 1].token)
      try await stage.fault(.object(fault))
      let zonai = try await stage.zonai()
      var done = try await zonai.push(to: stage.audience)
      // An empty answer is tried again, and if it is the last of all, it takes some rounds to tell
      // that it is only one row's.
      for _ in 0..<2 where done.state == .running {
        stage.turn(seconds: 700)
        done = try await zonai.drained(done.id)
      }
      #expect(done.state == .completed, "\(done.error?.detail ?? "")")
      #expect(done.counts.delivered == 39)
      #expect(done.counts.transientlyFailed == 1)
      #expect(try stage.cleared.isEmpty)
      #expect(try await stage.inbox.repeated == 0)
      #expect(try await stage.requests(odd.lane) <= 39 + 9)
    }
  }

  @Test func `without APNs no iOS token is sent to FCM, and the account says so`() async throws {
    try await Stage.with(CredentialTests.mixed(40)) { stage in
      let before = try stage.rows
      let done = try await stage.zonai([stage.fcm()]).push(to: stage.audience)
      #expect(done.state == .completed)
      #expect(done.counts.delivered == 20)
      #expect(done.counts.transientlyFailed == 20)
      #expect(done.details(.transientlyFailed).count == 1)
      #expect(try await stage.requests("fcm") == 20)
      #expect(try stage.rows == before)
    }
  }

  /// What comes along with THIRD_PARTY_AUTH_ERROR.
  static let companions: [[JSON]] = [
    [], [GoogleError.apnsError(403, "InvalidProviderToken")], [GoogleError.apnsError(410, "Unregistered")],
    [GoogleError.apnsError(400, "BadDeviceToken")],
  ]

  @Test(arguments: companions)
  func `an APNs key that lapsed in Firebase keeps all iOS rows while Android is delivered to`(
    _ details: [JSON]
  ) async throws {
    let devices = (1...40).map { $0 % 2 == 0 ? Device.iosOverFCM($0) : .android($0) }
    try await Stage.with(devices) { stage in
      try await stage.fault(
        GoogleError.fault(
          prefix: "ios", 401, "UNAUTHENTICATED",
          "Request is missing required authentication credential. Expected OAuth 2 access token.",
          fcmError: "THIRD_PARTY_AUTH_ERROR", details: details))
      let before = try stage.rows
      let done = try await stage.zonai([stage.fcm()]).push(to: stage.audience)
      #expect(done.state == .completed)
      #expect(done.counts.delivered == 20)
      #expect(done.counts.transientlyFailed == 20)
      #expect(done.details(.transientlyFailed).allSatisfy { $0.contains("Firebase project") })
      #expect(try stage.rows == before)
      #expect(try await stage.requests("fcm") == 40)
      #expect(try await stage.requests("oauth") == 1, "it is no credential of ours, so none is renewed")
    }
  }

  @Test func `a wrong bundle id keeps every iOS row and names the setting`() async throws {
    try await Stage.with(CredentialTests.mixed(40)) { stage in
      let before = try stage.rows
      let lanes: [any Transport] = [
        try await stage.fcm(), try await stage.apns { $0.bundleId = "dev.zonai.another" },
      ]
      let done = try await stage.zonai(lanes).push(to: stage.audience)
      #expect(done.state == .completed)
      #expect(done.counts.delivered == 20)
      #expect(done.counts.transientlyFailed == 20)
      #expect(done.details(.transientlyFailed).allSatisfy { $0.contains("apns.bundleId") })
      #expect(try stage.rows == before)
    }
  }
}
