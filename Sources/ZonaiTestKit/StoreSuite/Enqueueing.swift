import ZonaiCore

extension TokenStoreConformance {
  /// What an enqueue records.
  static var enqueueing: [Check<Fixture>] {
    [
      check("an enqueue records the whole definition, with the key filled in", law: "section 5, enqueue") { scene in
        try await scene.makeDevices(1)
        var routes = Routes(apple: .apns, android: .fcm, unknown: nil)
        routes.others = ["webos": TransportName(rawValue: "lg")]
        let message = PushMessage(
          title: "it's \"new\"", body: "two\nlines \u{1F600}", data: ["a": "1", "b": "'"], collapseKey: "k",
          timeToLive: 3600, priority: .high, sound: "default", badge: 0, image: "https://example.com/x.png",
          thread: "t", category: "c", pushType: .voip, fcmOverride: "{\"a\":1}", apnsOverride: "{}")
        let predicate = Predicate.and([
          Column("age") >= 18, .not(Column("city").in(["Rome", "O'slo"])),
          .or([Column("city").like("a%"), Column("age").isNull]),
          .compare("age", .notEqual, .real(1.5)),
        ])
        let definition = JobDefinition(
          message: message,
          audience: Audience(
            "devices", token: "token", platform: .fixed(Platform("ios")), lastSeen: "seen", where: predicate),
          policy: .deleteRow, routes: routes, attribution: ["campaign": "spring 'n' fall", "": "empty"])
        let enqueued = try await scene.store.enqueue(EnqueueRequest(definition: definition))
        var expected = definition
        expected.audience.key = ["id"]
        let job = try await scene.job(enqueued.job.id)
        try expect(job.definition, is: expected, "the definition")
        try expect(enqueued.wasThere, is: false, "wasThere")
        try expect(job.state, is: .pending, "the state")
        try expect(job.counts, is: JobCounts(), "the counts")
        try expect(job.suspects, is: .ask, "the word on suspects")
        try expectNear(job.expiresAt.map { $0 - job.createdAt }, 3_600_000, "when the message expires")
      },
      check("one idempotency key is one job, and other content is refused", law: "section 5, enqueue") { scene in
        try await scene.makeDevices(2)
        let first = try await scene.store.enqueue(scene.request(key: "monday"))
        try await scene.deliver(try await scene.claim())
        let again = try await scene.store.enqueue(scene.request(key: "monday"))
        try expect(again.job.id, is: first.job.id, "the job of the same key")
        try expect(again.wasThere, is: true, "wasThere of the same key")
        try expect(again.job.state, is: .completed, "the state of the job as it is by now")
        for other in [
          scene.request(title: "other", key: "monday"), scene.request(policy: .none, key: "monday"),
          scene.request(.devices(where: Column("age") == 1), key: "monday"),
        ] {
          try await expectRefusal(.idempotencyClash, "other content under the same key") {
            _ = try await scene.store.enqueue(other)
          }
        }
        try await scene.enqueue(key: "tuesday")
        try await scene.enqueue()
        try await scene.enqueue()
        try expect(try await scene.allJobs().count, is: 4, "jobs")
      },
      check("an enqueue that is repeated gives the same job, whatever became of the table", law: "section 5, enqueue") {
        scene in
        try await scene.makeDevices(1)
        let first = try await scene.store.enqueue(scene.request(.devices(where: Column("age") == 1), key: "monday"))
        try await scene.fixture.drop("devices")
        var named = Audience.devices(where: Column("age") == 1)
        for key in [[], ["id"]] {
          named.key = key
          let again = try await scene.store.enqueue(scene.request(named, key: "monday"))
          try expect(again.job.id, is: first.job.id, "the job of the same key")
          try expect(again.wasThere, is: true, "wasThere of the same key")
          try expect(again.job.definition.audience.key, is: ["id"], "the key that was filled in")
        }
        try await expectRefusal(.noSuchTable, "other content about a table that is gone") {
          _ = try await scene.store.enqueue(scene.request(title: "other", key: "monday"))
        }
      },
      check("jobs are listed newest first, by state, and up to a limit", law: "section 5, enqueue") { scene in
        try await scene.makeDevices(2)
        var ids: [JobID] = []
        for number in 0..<5 {
          ids.append(try await scene.enqueue(title: "number \(number)"))
          try await scene.fixture.advance(milliseconds: 5)
        }
        try expect(try await scene.allJobs().map(\.id), is: ids.reversed(), "the ids, newest first")
        try await scene.cancel(ids[1])
        try await scene.cancel(ids[3])
        guard case .jobs(let cancelled) = try await scene.store.jobs(.list(limit: 10, states: [.cancelled])),
          case .jobs(let newest) = try await scene.store.jobs(.list(limit: 2, states: nil))
        else { return }
        try expect(cancelled.map(\.id), is: [ids[3], ids[1]], "the cancelled ones")
        try expect(newest.map(\.id), is: [ids[4], ids[3]], "the two newest")
        guard case .job(let missing) = try await scene.store.jobs(.one(JobID("nobody"))) else { return }
        try expect(missing?.id, is: nil, "a job that nobody enqueued")
      },
      check("counting an audience counts its recipients by platform and writes nothing", law: "section 5, enqueue") {
        scene in
        try await scene.makeDevices(3)
        try await scene.fixture.insert(
          [
            TableSketch.device(10, token: "a", ["platform": "iOS"]), TableSketch.device(11, token: nil),
            TableSketch.device(12, token: "b", ["platform": .null]), TableSketch.device(13, token: ""),
            TableSketch.device(14, token: "c", ["platform": "IOS"]),
          ], into: "devices")
        guard case .audience(let count) = try await scene.store.jobs(.count(scene.request())) else {
          throw CheckFailure(expected: "the count of an audience", found: "another listing")
        }
        try expect(
          count.recipients, is: [Platform("android"): 3, Platform("ios"): 2, .unknown: 1], "recipients by platform")
        try expect(count.audience.key, is: ["id"], "the key that was filled in")
        try expect(try await scene.allJobs().count, is: 0, "jobs")
      },
      check("deleting rows that others reference is done when it is said to be meant", law: "section 5, enqueue") {
        scene in
        try await makeReferenced(scene)
        var request = scene.request(policy: .deleteRow)
        request.deletesReferencedRows = true
        _ = try await scene.store.enqueue(request)
        try expect(try await scene.allJobs().count, is: 1, "jobs")
        try await scene.enqueue(policy: .clearColumn)
        try expect(try await scene.allJobs().count, is: 2, "jobs, with one that only clears")
      },
    ]
  }

  static func makeReferenced(_ scene: Scene<Fixture>) async throws {
    try await scene.makeDevices(1)
    try await scene.fixture.create(
      TableSketch(
        "orders",
        columns: [ColumnSketch("id", .integer, isNullable: false), ColumnSketch("device", .integer)],
        primaryKey: ["id"], references: [ReferenceSketch("device", to: "devices")]))
  }
}
