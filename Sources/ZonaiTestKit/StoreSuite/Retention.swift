import ZonaiCore

extension TokenStoreConformance {
  /// What becomes of jobs that ended long ago.
  static var retention: [Check<Fixture>] {
    [
      check("a job that was removed is nobody's any more, and its key is free", law: "section 6, change") { scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue(key: "news")
        try await scene.deliver(try await scene.claim(size: 2, first: 2))
        let late = try await scene.claim(size: 2)
        try await scene.cancel(job)
        try await scene.fixture.advance(milliseconds: 7_200_000)
        try expect(try await scene.retain(3_600_000), is: 1, "removed jobs")
        try await scene.expectLeaseLost(.answers(late.delivered()))
        try expect(
          try await scene.renew(late.lease, by: "anna", milliseconds: 60_000).isOwned, is: false,
          "whether a batch of it is owned")
        try await expectRefusal(.notFound, "resuming it") { try await scene.resume(job) }
        let again = try await scene.enqueue(key: "news")
        try expect(again != job, "another job for its key", found: "the same")
        try expect(try await scene.allJobs().map(\.id), is: [again], "the jobs that are listed")
        try expect(try await scene.drain().map(\.key.id), is: [1, 2, 3, 4], "the ids of the new job")
      },
      check("a job that was resumed is not removed by its age", law: "section 6, change") { scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim(size: 2, first: 2))
        try await scene.cancel(job)
        try await scene.fixture.advance(milliseconds: 7_200_000)
        try await scene.resume(job)
        try expect(try await scene.retain(3_600_000), is: 0, "removed jobs")
        try expect(try await scene.drain(size: 2).map(\.key.id), is: [3, 4], "the ids after the resume")
        try expect(try await scene.retain(3_600_000), is: 0, "removed jobs when it has just ended")
      },
      check("of workers that remove old jobs now and then one does it, for all", law: "section 6, change") { scene in
        try await scene.makeDevices(1)
        try expect(try await scene.retain(3_600_000, every: 600_000), is: 0, "removed jobs of none")
        let job = try await scene.enqueue()
        try await scene.cancel(job)
        try await scene.fixture.advance(milliseconds: 3_700_000)
        _ = try await scene.retain(86_400_000, every: 600_000)
        try expect(try await scene.retain(3_600_000, every: 600_000), is: 0, "removed jobs right after another's turn")
        try await scene.fixture.advance(milliseconds: 601_000)
        try expect(try await scene.retain(3_600_000, every: 600_000), is: 1, "removed jobs ten minutes later")
      },
    ]
  }
}

extension Scene {
  func retain(_ milliseconds: Int64, every: Int64 = 0) async throws -> Int {
    guard case .removed(let count) = try await store.change(.retain(milliseconds: milliseconds, every: every)) else {
      throw CheckFailure(expected: "a count of removed jobs", found: "something else")
    }
    return count
  }
}
