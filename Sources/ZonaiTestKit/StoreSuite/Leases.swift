import ZonaiCore

extension TokenStoreConformance {
  /// One owner a batch.
  static var leases: [Check<Fixture>] {
    [
      check("a worker that lost its lease commits nothing", law: "law 8") { scene in
        try await scene.makeDevices(3)
        let job = try await scene.enqueue()
        let lost = try await scene.claim("anna", lease: 60_000)
        try await scene.fixture.advance(milliseconds: 61_000)
        let taken = try await scene.claim("berta")
        try expect(taken.lease.fence > lost.lease.fence, "a greater fence after the takeover")
        var answers = lost.delivered(but: [0])
        answers.rejections = [lost.rejection(0)]
        answers.circumstantial = [lost.circumstantial(1)]
        answers.failure = .example
        try await scene.expectLeaseLost(.answers(answers))
        try await scene.expectLeaseLost(.prunes(lost.prunes([lost.rejection(0)])))
        let after = try await scene.job(job)
        try expect(after.counts.settled, is: 0, "recipients settled by a lost lease")
        try expect(after.state, is: .running, "the job's state after a lost lease reported a failure")
        try expect(try await scene.deviceTokens().count, is: 3, "tokens that are left")
        let record = try await scene.witnesses(taken.lease, .android)
        try expect(record.recordCircumstantialSince, is: 0, "circumstantial answers on record")
        try await scene.deliver(taken)
        try expect(try await scene.job(job).counts.delivered, is: 3, "deliveries")
      },
      check("a worker that lost its lease after its answers prunes nothing", law: "law 8") { scene in
        try await scene.makeDevices(2)
        let job = try await scene.enqueue()
        let lost = try await scene.claim("anna", lease: 60_000)
        let rejections = try await scene.reject([0], of: lost)
        try await scene.fixture.advance(milliseconds: 61_000)
        let taken = try await scene.claim("berta")
        try await scene.expectLeaseLost(.prunes(lost.prunes(rejections)))
        try expect(try await scene.deviceTokens().count, is: 2, "tokens that are left")
        try expect(try await scene.job(job).counts.permanentlyRejected, is: 0, "rejections counted")
        try await scene.settle(.prunes(taken.prunes(taken.rejections)))
        try expect(try await scene.job(job).counts.pruned, is: 1, "pruned by the new owner")
      },
      check("a settlement that comes late, before anybody took over, is committed", law: "section 5, settle") { scene in
        try await scene.makeDevices(3)
        let job = try await scene.enqueue()
        let batch = try await scene.claim(lease: 60_000)
        try await scene.fixture.advance(milliseconds: 300_000)
        try await scene.deliver(batch)
        try expect(try await scene.job(job).counts.delivered, is: 3, "deliveries")
      },
      check("a settlement that comes twice counts once", law: "law 4") { scene in
        try await scene.makeDevices(6)
        let job = try await scene.enqueue()
        let first = try await scene.claim(size: 2, first: 2)
        try await scene.deliver(first)
        _ = try await scene.store.settle(.answers(first.delivered()))
        try expect(try await scene.job(job).counts.delivered, is: 2, "deliveries after the same answers twice")
        let second = try await scene.claim(size: 2)
        try await scene.settle(.answers(second.givenBack()))
        _ = try await scene.store.settle(.answers(second.delivered()))
        try expect(try await scene.job(job).counts.delivered, is: 2, "deliveries after answers of a batch given back")
        let third = try await scene.claim(size: 2)
        let rejections = try await scene.reject([0], of: third)
        _ = try await scene.store.settle(.answers(third.delivered(but: [0])))
        try expect(try await scene.job(job).counts.delivered, is: 3, "deliveries after answers with a rejection twice")
        try await scene.settle(.prunes(third.prunes(rejections)))
        _ = try await scene.store.settle(.prunes(third.prunes(rejections)))
        try expect(try await scene.job(job).counts.permanentlyRejected, is: 1, "rejections after the same prunes twice")
      },
      check("a live lease is not taken over, and renewing keeps it alive", law: "section 5, renew") { scene in
        try await scene.makeDevices(3)
        try await scene.enqueue()
        let batch = try await scene.claim("anna", lease: 60_000)
        try await scene.fixture.advance(milliseconds: 30_000)
        _ = try await scene.claimNothing("berta")
        for _ in 0..<5 {
          let renewed = try await scene.renew(batch.lease, by: "anna", milliseconds: 60_000)
          try expect(renewed.isOwned, is: true, "whether the renewed lease is owned")
          try expect(renewed.jobState, is: .running, "the state that the renewal tells")
          try await scene.fixture.advance(milliseconds: 30_000)
          _ = try await scene.claimNothing("berta")
        }
        try await scene.fixture.advance(milliseconds: 31_000)
        try expect(try await scene.claim("berta").isTakeover, is: true, "isTakeover once nobody renews")
      },
      check("a renewal tells of a lost lease and does not touch the new owner's", law: "law 8") { scene in
        try await scene.makeDevices(3)
        try await scene.enqueue()
        let lost = try await scene.claim("anna", lease: 60_000)
        try await scene.fixture.advance(milliseconds: 61_000)
        let taken = try await scene.claim("berta", lease: 60_000)
        let renewed = try await scene.renew(lost.lease, by: "anna", milliseconds: 6_000_000)
        try expect(renewed.isOwned, is: false, "whether the lost lease is owned")
        try await scene.fixture.advance(milliseconds: 61_000)
        try expect(try await scene.claim("anna").isTakeover, is: true, "isTakeover when the new owner's lease ended")
        try expect(
          try await scene.renew(taken.lease, by: "berta", milliseconds: 60_000).isOwned, is: false,
          "whether the second lost lease is owned")
      },
      check("a renewal tells that the job was stopped, and that a batch is gone", law: "section 5, renew") { scene in
        try await scene.makeDevices(6)
        let job = try await scene.enqueue()
        let first = try await scene.claim(size: 2, first: 2)
        try await scene.deliver(first)
        let second = try await scene.claim(size: 2)
        let third = try await scene.claim(size: 2)
        try await scene.cancel(job)
        let renewed = try await scene.store.renew(
          RenewRequest(
            worker: WorkerID(rawValue: "anna"), leases: [third.lease, first.lease, second.lease],
            leaseMilliseconds: 60_000))
        try expect(renewed.map(\.lease), is: [third.lease, first.lease, second.lease], "the leases, in their order")
        try expect(renewed.map(\.isOwned), is: [true, false, true], "which of them are owned")
        try expect(renewed[0].jobState, is: .cancelled, "the state that the renewal tells")
      },
      check("a worker is listed with its leases", law: "section 6, jobs") { scene in
        try await scene.makeDevices(6)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim("anna", size: 2, first: 2))
        _ = try await scene.claim("anna", size: 2)
        _ = try await scene.claim("berta", size: 1)
        guard case .workers(let workers) = try await scene.store.jobs(.workers) else { return }
        let leases = Dictionary(workers.map { ($0.worker.rawValue, $0.leases) }, uniquingKeysWith: { $1 })
        try expect(leases["anna"], is: 1, "anna's leases")
        try expect(leases["berta"], is: 1, "berta's leases")
        try expect(workers.allSatisfy { $0.jobs == [job] }, "the job of each")
      },
    ]
  }
}

extension Scene {
  func renew(_ lease: BatchLease, by worker: String, milliseconds: Int64) async throws -> RenewedLease {
    let renewed = try await store.renew(
      RenewRequest(worker: WorkerID(rawValue: worker), leases: [lease], leaseMilliseconds: milliseconds))
    guard renewed.count == 1 else {
      throw CheckFailure(expected: "one answer for one lease", found: "\(renewed.count) answers")
    }
    return renewed[0]
  }

  func witnesses(_ lease: BatchLease, _ group: Group) async throws -> GroupCounts {
    guard case .witnesses(let accounts) = try await store.inspect(.witnesses(lease, groups: [group])),
      let account = accounts[group]
    else { throw CheckFailure(expected: "an account of \(group.platform)", found: "none") }
    return account
  }
}
