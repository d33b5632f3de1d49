import ZonaiCore

extension TokenStoreConformance {
  /// Who gets what, and in which order.
  static var claiming: [Check<Fixture>] {
    [
      check("a job's first batch is small, and alone until it is answered", law: "section 5, claim") { scene in
        try await scene.makeDevices(20)
        try await scene.enqueue()
        let first = try await scene.claim("anna", size: 10, first: 3)
        try expect(first.isFirst, is: true, "isFirst of the first batch")
        try expect(first.ids, is: [1, 2, 3], "the ids of the first batch")
        let idle = try await scene.claimNothing("berta")
        try expect(idle.leasesElsewhere, is: 1, "leases that are in the way")
        let rejections = try await scene.reject([0], of: first)
        let second = try await scene.claim("berta", size: 10, first: 3)
        try expect(second.isFirst, is: false, "isFirst of the second batch")
        try expect(second.ids, is: Array(4...13), "the ids of the second batch, once the first was answered")
        try await scene.settle(.prunes(first.prunes(rejections)))
        try expect(try await scene.claim("anna", size: 10, first: 3).ids, is: Array(14...20), "the ids of the third")
      },
      check("owed recipients of the first batch do not hold the job", law: "section 5, claim") { scene in
        try await scene.makeDevices(6)
        try await scene.enqueue()
        let first = try await scene.claim(size: 3, first: 2)
        try await scene.settle(.answers(first.givenBack(after: 600_000)))
        try expect(try await scene.claim(size: 3, first: 2).ids, is: [3, 4, 5], "the ids of the next page")
      },
      check("of two jobs the one that waited longer comes first", law: "section 5, claim") { scene in
        try await scene.makeDevices(8)
        let jobs = [try await scene.enqueue(title: "one"), try await scene.enqueue(title: "two")]
        var served: [JobID] = []
        for _ in 0..<6 {
          let batch = try await scene.claim(size: 2, first: 2)
          served.append(batch.job.id)
          try await scene.deliver(batch)
        }
        try expect(served, is: [jobs[0], jobs[1], jobs[0], jobs[1], jobs[0], jobs[1]], "the jobs in turn")
      },
      check("what is owed and due comes before a job's new pages", law: "section 5, claim") { scene in
        try await scene.makeDevices(9)
        try await scene.enqueue()
        let first = try await scene.claim(size: 3, first: 3)
        try await scene.settle(.answers(first.givenBack()))
        try expect(try await scene.claim(size: 3).ids, is: [1, 2, 3], "the ids that are owed")
        try expect(try await scene.claim(size: 3).ids, is: [4, 5, 6], "the ids of the next page")
      },
      check("a worker without a job's transports leaves it alone and says so", law: "section 5, routes") { scene in
        try await scene.makeDevices(4)
        let mixed = try await scene.enqueue(routes: Routes(apple: .apns, android: .fcm, unknown: .fcm))
        let plain = try await scene.enqueue(title: "plain")
        let batch = try await scene.claim(transports: [.fcm])
        try expect(batch.job.id, is: plain, "the job that the worker can serve")
        try await scene.deliver(batch)
        let idle = try await scene.claimNothing(transports: [.fcm])
        try expect(idle.unservable, is: [mixed], "the jobs that it cannot serve")
        try expect(try await scene.job(mixed).state, is: .pending, "the state of the job that was left alone")
        try expect(try await scene.claim(transports: [.fcm, .apns]).job.id, is: mixed, "the job of a worker with both")
      },
      check("a worker may ask for one job only", law: "section 5, claim") { scene in
        try await scene.makeDevices(3)
        try await scene.enqueue(title: "one")
        let two = try await scene.enqueue(title: "two")
        let batch = try await scene.claim(only: two)
        try expect(batch.job.id, is: two, "the job that was asked for")
        try await scene.deliver(batch)
        let idle = try await scene.claimNothing(only: two)
        try expect(idle.unservable, is: [], "jobs that it cannot serve")
      },
      check("nothing to do says how long it will be so, and why", law: "section 5, claim") { scene in
        try await scene.makeDevices(4)
        let nobody = try await scene.claimNothing()
        try expect(nobody.nextDueInMilliseconds, is: nil, "when something falls due without any job")
        try await scene.enqueue()
        let batch = try await scene.claim("anna", lease: 40_000)
        let leased = try await scene.claimNothing("berta")
        try expect(leased.leasesElsewhere, is: 1, "leases of others")
        try expect(leased.waitsForLease, is: true, "waitsForLease while another works")
        try expectNear(leased.nextDueInMilliseconds, 40_000, "when the lease ends")
        try await scene.settle(.answers(batch.givenBack(after: 90_000)))
        let owed = try await scene.claimNothing("berta")
        try expect(owed.owedLater, is: 4, "recipients that are owed later")
        try expect(owed.leasesElsewhere, is: 0, "leases of others after the giving back")
        try expect(owed.waitsForLease, is: false, "waitsForLease while recipients rest")
        try expectNear(owed.nextDueInMilliseconds, 90_000, "when the owed recipients fall due")
      },
      check("a claim tells the store's time, the lease and the job as it is", law: "section 5, renew") { scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue()
        try expect(try await scene.job(job).startedAt, is: nil, "when a pending job was started")
        let batch = try await scene.claim(size: 2, first: 2, lease: 45_000)
        try expect(batch.leaseMilliseconds, is: 45_000, "the lease")
        try expect(batch.job.state, is: .running, "the state of a job that was claimed from")
        try expect(batch.job.definition.message.title, is: "news", "the message's title")
        let created = batch.job.createdAt
        try expectNear(batch.now, created, "the store's time")
        try await scene.deliver(batch)
        try await scene.fixture.advance(milliseconds: 3_600_000)
        let later = try await scene.claim(size: 2)
        try expectNear(later.now - later.job.createdAt, 3_600_000, "the age of the job after an hour")
        try expect(later.job.startedAt != nil, "a moment at which the job was started")
      },
      check("a job whose table or column is gone fails at its claim", law: "section 5, enqueue") { scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue()
        try await scene.fixture.drop("devices")
        guard case .ended(let ended) = try await scene.claimOnce() else {
          throw CheckFailure(expected: "the claim to end the job", found: "something else")
        }
        try expect(ended.state, is: .failed, "the state of the job")
        try expect(ended.error?.code, is: .store, "the code of its error")
        try await scene.makeDevices(4)
        try await scene.resume(job)
        try expect(try await scene.claim().ids, is: [1, 2, 3, 4], "the ids after the table is back")
      },
      check("a job that cannot be read fails, and the others go on", law: "section 5, claim") { scene in
        try await scene.makeDevices(3)
        let garbled = try await scene.enqueue(title: "garbled")
        let sound = try await scene.enqueue(title: "sound")
        try await scene.fixture.garble(garbled)
        // A handle that has never seen the job.
        let worker = try await scene.open()
        guard case .ended(let ended) = try await scene.claimOnce(on: worker) else {
          throw CheckFailure(expected: "the claim to end the garbled job", found: "something else")
        }
        try expect(ended.id, is: garbled, "the job that ended")
        try expect(ended.state, is: .failed, "the state of the garbled job")
        try expect(ended.error?.code, is: .store, "the code of its error")
        guard case .batch(let batch) = try await scene.claimOnce(on: worker) else {
          throw CheckFailure(expected: "a batch of the sound job", found: "something else")
        }
        try expect(batch.job.id, is: sound, "the job that goes on")
        guard case .jobs(let listed) = try await worker.jobs(.list(limit: 10, states: nil)) else { return }
        try expect(listed.map(\.id), is: [sound, garbled], "the jobs that are listed")
        try expect(listed.last?.state, is: .failed, "the state in the list")
      },
    ]
  }
}

/// Expects a moment or a span to be what it should be, give or take the time that the check itself may take.
func expectNear(
  _ found: Int64?, _ expected: Int64, _ what: String, file: StaticString = #fileID, line: UInt = #line
) throws {
  try expect(
    found.map { abs($0 - expected) < 30_000 } ?? false, "\(what): about \(expected) ms",
    found: found.map { "\($0) ms" } ?? "nothing", file: file, line: line)
}
