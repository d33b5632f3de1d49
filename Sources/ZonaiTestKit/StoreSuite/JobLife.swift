import ZonaiCore

extension TokenStoreConformance {
  /// Jobs from their enqueuing to their removal.
  static var jobLife: [Check<Fixture>] {
    [
      check("cancelling stops a job, resuming goes on from its place", law: "section 5, job's life") { scene in
        try await scene.makeDevices(6)
        let job = try await scene.enqueue()
        try expect(try await scene.cancel(job).state, is: .cancelled, "the state of a cancelled pending job")
        _ = try await scene.claimNothing()
        try expect(try await scene.resume(job).state, is: .running, "the state of a resumed job")
        try await scene.deliver(try await scene.claim(size: 2, first: 2))
        try await scene.cancel(job)
        _ = try await scene.claimNothing()
        try await scene.resume(job)
        try expect(try await scene.drain(size: 2).map(\.key.id), is: [3, 4, 5, 6], "the ids after the resume")
      },
      check("a change that does not fit the job's state is refused", law: "section 5, job's life") { scene in
        try await scene.makeDevices(1)
        let job = try await scene.enqueue()
        try await expectRefusal(.wrongState, "resuming a pending job") { try await scene.resume(job) }
        let batch = try await scene.claim()
        try await expectRefusal(.wrongState, "resuming a running job") { try await scene.resume(job) }
        try await scene.deliver(batch)
        try await expectRefusal(.wrongState, "resuming a completed job") { try await scene.resume(job) }
        try await expectRefusal(.wrongState, "cancelling a completed job") { try await scene.cancel(job) }
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
        try await expectRefusal(.notFound, "cancelling nobody's job") { try await scene.cancel(JobID("nobody")) }
        try await expectRefusal(.notFound, "resuming nobody's job") { try await scene.resume(JobID("nobody")) }
      },
      check("a job that cannot run fails before any send, and starts over when resumed", law: "section 5, enqueue") {
        scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue()
        let batch = try await scene.claim(size: 2, first: 2)
        guard case .job(let failed) = try await scene.store.change(.fail(batch.lease, .other)) else { return }
        try expect(failed.state, is: .failed, "the job's state")
        try expect(failed.error, is: .other, "the job's error")
        try await scene.expectLeaseLost(.answers(batch.delivered()))
        try await scene.resume(job)
        let again = try await scene.claim(size: 2, first: 2)
        try expect(again.ids, is: [1, 2], "the ids after the resume")
        try expect(again.isFirst, is: true, "isFirst after the resume")
        try expect(again.isTakeover, is: false, "isTakeover after the resume")
      },
      check("a worker that lost its lease fails no job", law: "law 8") { scene in
        try await scene.makeDevices(2)
        let job = try await scene.enqueue()
        let lost = try await scene.claim("anna")
        try await scene.fixture.advance(milliseconds: 61_000)
        let taken = try await scene.claim("berta")
        _ = try await scene.store.change(.fail(lost.lease, .other))
        try expect(try await scene.job(job).state, is: .running, "the job's state")
        try await scene.deliver(taken)
        try expect(try await scene.job(job).state, is: .completed, "the job's state in the end")
      },
      check("retention removes jobs that ended long ago, and no others", law: "section 6, change") { scene in
        try await scene.makeDevices(3)
        let old = try await scene.enqueue(title: "old")
        try await scene.deliver(try await scene.claim())
        let cancelled = try await scene.enqueue(title: "cancelled long ago")
        try await scene.cancel(cancelled)
        let running = try await scene.enqueue(title: "running")
        _ = try await scene.claim(size: 1, first: 1, lease: 86_400_000)
        let pending = try await scene.enqueue(title: "pending")
        try await scene.fixture.advance(milliseconds: 7_200_000)
        let recent = try await scene.enqueue(title: "recent")
        try await scene.cancel(recent)
        guard case .removed(let removed) = try await scene.store.change(.retain(milliseconds: 3_600_000)) else {
          return
        }
        try expect(removed, is: 2, "removed jobs")
        let left = try await scene.allJobs().map(\.id)
        try expect(Set(left), is: [running, pending, recent], "the jobs that are left")
        try expect(!left.contains(old), "the old job to be gone")
      },
      check("who waits for work wakes when there is some", law: "section 6, waitForWork") { scene in
        try await scene.makeDevices(1)
        let worker = try await scene.open()
        guard case .nothing = try await scene.claimOnce("berta", on: worker) else { return }
        async let woken: Void = worker.waitForWork(milliseconds: 240_000)
        try await scene.enqueue()
        try await woken
        guard case .batch = try await scene.claimOnce("berta", on: worker) else {
          throw CheckFailure(expected: "a batch after the waiting", found: "none")
        }
        try await worker.waitForWork(milliseconds: 0)
      },
      check(
        "who waits for work hears what came since its own look, whoever looked later", law: "section 6, waitForWork"
      ) {
        scene in
        try await scene.makeDevices(1)
        let store = try await scene.open()
        for (worker, transports) in [("anna", [TransportName.apns]), ("berta", [.fcm])] {
          guard case .nothing = try await scene.claimOnce(worker, transports: Set(transports), on: store) else {
            return
          }
          try await store.waitForWork(milliseconds: 0)
        }
        try await scene.enqueue()
        guard case .nothing = try await scene.claimOnce("anna", transports: [.apns], on: store) else { return }
        try await store.waitForWork(milliseconds: 0)
        try await store.waitForWork(milliseconds: 240_000)
        guard case .batch = try await scene.claimOnce("berta", transports: [.fcm], on: store) else {
          throw CheckFailure(expected: "a batch after the waiting", found: "none")
        }
      },
    ]
  }
}
