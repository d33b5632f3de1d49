import Synchronization
import Testing
import ZonaiCore
import ZonaiJSON

/// What becomes of the table when services say that tokens are dead, or say what may mean it.
@Suite(.timeLimit(.minutes(3)))
struct EvidenceTests {
  @Test func `a whole batch that was uninstalled is pruned`() async throws {
    let devices = (1...40).map { Device.android($0) } + (41...80).map { Device.ios($0) }
    try await Stage.with(devices) { stage in
      for device in devices { try await stage.put(device, "uninstalled") }
      let done = try await stage.zonai().push(to: stage.audience)
      #expect(done.state == .completed)
      #expect(done.counts.pruned == 80)
      #expect(try stage.cleared == Array(1...80))
    }
  }

  /// INVALID_ARGUMENT, in the words that were seen for bad tokens, bad messages, or either.
  static let wordings: [String: (JSON?, String)] = [
    "text": (nil, "The registration token is not a valid FCM registration token"),
    "violation": (GoogleError.badRequest("message.token"), "Request contains an invalid argument."),
    "generic": (nil, "Request contains an invalid argument."),
    "apns": (GoogleError.apnsError(410, "Unregistered"), "APNs device token is disabled."),
    "environment": (GoogleError.apnsError(400, "BadDeviceToken"), "Request contains an invalid argument."),
    "big": (GoogleError.badRequest(), "Android message is too big"),
    "field": (GoogleError.badRequest("message.apns.payload"), "Invalid value at 'message.apns.payload'"),
  ]

  @Test(arguments: [
    ["text"], ["violation"], ["generic"], ["apns"], ["environment"], ["big"], ["field"], ["text", "violation"],
    ["generic", "text"], ["generic", "environment"], ["text", "violation", "generic", "apns", "environment"],
    ["generic", "big"], ["text", "field"],
  ])
  func `a whole group of INVALID_ARGUMENT fails the job and prunes nothing, though the other platform was delivered to`(
    _ words: [String]
  ) async throws {
    let android = (1...20).map { Device.android($0) }
    let ios = (21...40).map { Device.iosOverFCM($0, prefix: "\(words[$0 % words.count])-ios") }
    try await Stage.with(android + ios) { stage in
      for word in words {
        let (detail, text) = try #require(EvidenceTests.wordings[word])
        try await stage.fault(
          GoogleError.fault(
            prefix: "\(word)-ios", 400, "INVALID_ARGUMENT", text, fcmError: "INVALID_ARGUMENT",
            details: detail.map { [$0] } ?? []))
      }
      let before = try stage.rows
      let asked = Mutex(0)
      let zonai = try await stage.zonai(
        [stage.fcm()],
        hook: { _ in
          asked.withLock { $0 += 1 }
          return .followPolicy
        })
      let stopped = try await zonai.push(to: stage.audience)
      #expect(stopped.state == .failed)
      let isMessage = words == ["big"] || words == ["field"]
      #expect(isMessage ? stopped.error?.code == .message : [.suspects, .message].contains(stopped.error?.code))
      #expect(stopped.counts.delivered == 20)
      #expect(stopped.counts.settled == 20)
      #expect(stopped.owed == 20)
      #expect(asked.withLock { $0 } == 0)
      #expect(try stage.rows == before)
      // Refused or suspected, nobody is sent to over and over.
      #expect(try await stage.requests("fcm") <= 40)

      // A resume that changes nothing ends as before, and sends to nobody who was settled.
      try await zonai.resume(stopped.id)
      let again = try await zonai.drained(stopped.id)
      #expect(again.state == .failed)
      #expect(again.counts.settled == 20)
      #expect(try stage.rows == before)
      #expect(try await stage.inbox.repeated == 0)
    }
  }

  @Test(arguments: [false, true])
  func `a whole group of BadDeviceToken fails the job and names the environment, one odd answer among them or not`(
    hasOddOne: Bool
  ) async throws {
    let ios = (21...40).map { Device.ios($0) }
    try await Stage.with((1...20).map { Device.android($0) } + ios) { stage in
      for device in ios { try await stage.put(device, "otherEnvironment") }
      if hasOddOne { try await stage.put(ios[7], "otherTopic") }
      let before = try stage.rows
      let stopped = try await stage.zonai().push(to: stage.audience)
      #expect(stopped.state == .failed)
      #expect(stopped.error?.code == .suspects)
      #expect(stopped.error?.detail.contains("apns.useSandbox") == true)
      #expect(stopped.counts.delivered == 20)
      #expect(stopped.counts.transientlyFailed == (hasOddOne ? 1 : 0))
      #expect(stopped.owed == (hasOddOne ? 19 : 20))
      #expect(try stage.rows == before)
    }
  }

  @Test func `single odd answers among many fail nothing, and only those that mean a dead token prune`() async throws {
    let android = (1...25).map { Device.android($0) }
    let ios = (26...50).map { Device.ios($0) }
    try await Stage.with(android + ios) { stage in
      try await stage.put(android[2], "otherProject")
      try await stage.put(ios[3], "expired")
      try await stage.put(ios[4], "otherTopic")
      try await stage.put(ios[5], "unknown")
      try await stage.put(ios[7], "otherEnvironment")
      try await stage.put(android[6], "uninstalled")
      let done = try await stage.zonai().push(to: stage.audience)
      #expect(done.state == .completed)
      #expect(done.counts.delivered == 44)
      #expect(try stage.cleared == [android[6].id, ios[3].id, ios[5].id])
      #expect(done.counts.transientlyFailed == 3)
      let details = done.details(.transientlyFailed)
      #expect(details.contains { $0.hasPrefix("SENDER_ID_MISMATCH") && $0.contains("fcm.projectId") }, "\(details)")
      #expect(details.contains { $0.hasPrefix("DeviceTokenNotForTopic") && $0.contains("apns.bundleId") }, "\(details)")
      #expect(try await stage.requests("fcm") == 25, "what is about a setting is not tried again")
      #expect(try await stage.requests("apns") == 25)
      #expect(details.contains { $0.contains("alive in the sandbox environment") && $0.contains("apns.useSandbox") })
      #expect(try await stage.requests("apns-sandbox") == 2, "one check for each BadDeviceToken")
    }
  }

  @Test func `above the ceiling BadDeviceToken prunes nothing`() async throws {
    let ios = (1...40).map { Device.ios($0) }
    try await Stage.with(ios) { stage in
      for device in ios[..<10] { try await stage.put(device, "unknown") }
      try await stage.put(ios[30], "uninstalled")
      let done = try await stage.zonai().push(to: stage.audience)
      #expect(done.state == .completed)
      #expect(try stage.cleared == [31])
      #expect(done.counts.transientlyFailed == 10)
      #expect(done.details(.transientlyFailed).contains { $0.contains("ceiling") })
    }
  }

  @Test func `over the whole job no more than a fifth of a group is pruned on such answers, however small its batches`()
    async throws
  {
    let ios = (1...200).map { Device.ios($0) }
    try await Stage.with(ios) { stage in
      for device in ios where device.id % 10 < 3 { try await stage.put(device, "unknown") }
      let done = try await stage.zonai(options: { $0.batchSize = 10 }).push(to: stage.audience)
      #expect(done.state == .completed)
      #expect(done.counts.pruned <= 40)
      #expect(done.counts.pruned + done.counts.transientlyFailed == 60)
      #expect(try stage.cleared.count == done.counts.pruned)
    }
  }
}
