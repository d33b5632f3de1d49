import Testing
import ZonaiCore
import ZonaiJSON

/// Services that are away, and connections that break.
@Suite(.timeLimit(.minutes(3)))
struct OutageTests {
  @Test func `a job waits for a service that is away longer than all attempts, and completes when it is back`()
    async throws
  {
    let devices = (1...60).map { $0 % 2 == 0 ? Device.ios($0) : .android($0) }
    try await Stage.with(devices) { stage in
      try await stage.fault(["lane": "fcm", "status": 503])
      let zonai = try await stage.zonai(options: {
        $0.batchSize = 60; $0.firstBatchSize = 60
      })
      var job = try await zonai.push(to: stage.audience)
      for round in 1...3 {
        #expect(job.state == .running)
        #expect(job.counts.delivered == 30, "the other lane's")
        #expect(job.counts.settled == 30)
        #expect(job.owed == 30)
        #expect(try await stage.requests("fcm") == 90 * round, "three attempts each, and no more")
        // A wait grows to ten minutes at most, and a little by chance.
        stage.turn(seconds: 700)
        if round == 3 { try await stage.forgetFaults() }
        job = try await zonai.drained(job.id)
      }
      #expect(job.state == .completed)
      #expect(job.counts.delivered == 60)
      let inbox = try await stage.inbox
      #expect(inbox.recipients == 60)
      #expect(inbox.repeated == 0)
      #expect(try stage.cleared.isEmpty)
    }
  }

  @Test(arguments: ["fcm", "apns"])
  func `a server that takes requests and never answers makes the job wait, and whom it may have reached is counted`(
    lane: String
  ) async throws {
    let devices = (1...30).map { lane == "fcm" ? Device.android($0) : .ios($0) }
    try await Stage.with(devices) { stage in
      try await stage.fault(["lane": .string(lane), "action": "silence", "deliver": true])
      let transport: any Transport =
        lane == "fcm"
        ? try await stage.fcm { $0.requestTimeout = 500 } : try await stage.apns { $0.requestTimeout = 500 }
      let zonai = try await stage.zonai([transport])
      let waiting = try await zonai.push(to: stage.audience)
      #expect(waiting.state == .running)
      #expect(waiting.counts.settled == 0)
      #expect(waiting.owed == 30)
      let requests = try await stage.requests(lane)
      #expect((3...90).contains(requests))
      #expect(try await stage.connections(lane) <= requests)
      #expect(try await stage.connections(lane) <= 100)

      try await stage.forgetFaults()
      stage.turn(seconds: 700)
      let done = try await zonai.drained(waiting.id)
      #expect(done.state == .completed)
      #expect(done.counts.delivered == 30)
      let inbox = try await stage.inbox
      #expect(inbox.recipients == 30)
      #expect(inbox.repeated <= done.counts.repeatedAfterLostAnswer)
      #expect(try stage.cleared.isEmpty)
    }
  }

  /// A break in the middle of a batch, what it does to the counts, and how many requests it may cost at most.
  struct Break: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let fault: JSON
    /// How many devices may have been reached although no answer came; nil: any number of those in flight.
    let lost: Int?
    var more = 0
  }

  static let breaks = [
    Break(testDescription: "GOAWAY", fault: ["action": "goaway", "after": 40, "times": 2], lost: 0, more: 400),
    Break(
      testDescription: "a stream that was refused",
      fault: ["action": "reset", "errorCode": "REFUSED_STREAM", "after": 20, "times": 5], lost: 0, more: 10),
    Break(
      testDescription: "a stream reset after the message was taken",
      fault: ["action": "reset", "after": 20, "times": 5, "deliver": true], lost: 5, more: 10),
    Break(
      testDescription: "a connection lost after the message was taken",
      fault: ["action": "drop", "after": 40, "times": 1, "deliver": true], lost: nil, more: 400),
    Break(
      testDescription: "answers that never come",
      fault: ["action": "silence", "after": 40, "times": 3, "deliver": true], lost: 3, more: 10),
    Break(
      testDescription: "a stream limit of one from then on",
      fault: ["action": "streamLimit", "after": 20, "times": 1], lost: 0, more: 0),
  ]

  @Test(arguments: breaks, ["fcm", "apns"])
  func `a break in mid-batch costs nobody the message, and what may have come twice is counted`(
    _ trouble: Break, lane: String
  ) async throws {
    let devices = (1...200).map { lane == "fcm" ? Device.android($0) : .ios($0) }
    try await Stage.with(devices) { stage in
      var fault = trouble.fault.object ?? [:]
      fault["lane"] = .string(lane)
      try await stage.fault(.object(fault))
      let transport: any Transport =
        lane == "fcm"
        ? try await stage.fcm { $0.requestTimeout = 2000 } : try await stage.apns { $0.requestTimeout = 2000 }
      let done = try await stage.zonai([transport]).push(to: stage.audience)
      #expect(done.state == .completed)
      #expect(done.counts.delivered == 200)
      #expect(done.counts.repeatedByTakeover == 0)
      let inbox = try await stage.inbox
      #expect(inbox.recipients == 200)
      #expect(inbox.repeated <= done.counts.repeatedAfterLostAnswer, "every repeat is counted")
      if let lost = trouble.lost {
        #expect(inbox.repeated == lost)
        #expect(done.counts.repeatedAfterLostAnswer == lost)
      }
      #expect(try await stage.requests(lane) <= 200 + trouble.more)
      #expect(try await stage.connections(lane) <= 6)
      #expect(try stage.cleared.isEmpty)
    }
  }
}
