import ZonaiCore

extension TokenStoreConformance {
  /// What a store writes down of others' words and numbers.
  static var recording: [Check<Fixture>] {
    [
      check("whatever a service says can be written down", law: "law 13") { scene in
        try await scene.makeDevices(oddWords.count + 1)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        try expect(batch.recipients.count, is: oddWords.count + 1, "recipients")
        var answers = BatchAnswers(lease: batch.lease)
        for (index, words) in oddWords.enumerated() {
          answers.tally.append(
            TallyLine(
              group: .android, outcome: .transientlyFailed, reason: Reason(rawValue: words), detail: words, count: 1))
          var rejection = batch.rejection(index)
          rejection.words = words + String(repeating: " and more", count: 500)
          if index == 0 { answers.rejections = [rejection] }
        }
        answers.tally.removeFirst()
        answers.owed = [OwedRecipient(key: batch.recipients.keys[oddWords.count])]
        answers.failure = JobFailure(.message, oddWords.joined(separator: "; "))
        try await scene.settle(.answers(answers))
        let failed = try await scene.job(job)
        try expect(
          failed.error?.detail.writable ?? "", is: oddWords.joined(separator: "; ").writable, "the error's sentence")
        try expect(
          Set(failed.tally.map(\.reason.rawValue.writable)), is: Set(oddWords.dropFirst().map(\.writable)),
          "the reasons of the job's account")
        try expect(
          Set(failed.tally.map(\.detail.writable)), is: Set(oddWords.dropFirst().map(\.writable)),
          "the details of the job's account")
        try await scene.settle(.prunes(batch.prunes(answers.rejections)))
        try await scene.resume(job)
        try expect(try await scene.drain().map(\.key.id), is: [Int64(oddWords.count) + 1], "the ids that were owed")
      },
      check("reasons are told apart byte by byte", law: "law 13") { scene in
        try await scene.makeDevices(6)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        let reasons = ["Unregistered", "UNREGISTERED", "Unregistered ", "caf\u{e9}", "cafe", ""]
        let lines = reasons.map { reason in
          TallyLine(group: .android, outcome: .transientlyFailed, reason: Reason(rawValue: reason), count: 1)
        }
        try await scene.settle(.answers(BatchAnswers(lease: batch.lease, tally: lines)))
        let tally = try await scene.job(job).tally
        try expect(
          tally.map { Array($0.reason.rawValue.utf8).hex }.sorted(), is: reasons.map { Array($0.utf8).hex }.sorted(),
          "the reasons in hex")
        try expect(tally.map(\.count), is: reasons.map { _ in 1 }, "the count of each")
      },
      check("counts have room for billions", law: "law 13") { scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue()
        for _ in 0..<2 {
          let batch = try await scene.claim(size: 2, first: 2)
          let line = TallyLine(group: .android, outcome: .delivered, reason: "delivered", count: 3_000_000_000)
          try await scene.settle(.answers(BatchAnswers(lease: batch.lease, tally: [line])))
        }
        try expect(try await scene.job(job).counts.delivered, is: 6_000_000_000, "deliveries")
      },
      check("idempotency keys are told apart byte by byte", law: "section 5, enqueue") { scene in
        try await scene.makeDevices(1)
        let long = String(repeating: "k", count: 190)
        let keys = [
          "news", "News", "news ", " news", "caf\u{e9}", "cafe\u{301}", "\u{1F600}", "it's", "%", long, long + "1",
        ]
        var ids: [JobID] = []
        for (number, key) in keys.enumerated() { ids.append(try await scene.enqueue(title: "\(number)", key: key)) }
        try expect(Set(ids).count, is: keys.count, "jobs")
        for (number, key) in keys.enumerated() {
          let again = try await scene.store.enqueue(scene.request(title: "\(number)", key: key))
          try expect(again.job.id, is: ids[number], "the job of the key \(key)")
        }
      },
      check("platforms and reasons of any length are groups and lines of their own", law: "section 4, record") {
        scene in
        try await scene.makeDevices(6)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        let long = String(repeating: "\u{1F600} long ", count: 600)
        let groups = ["", "1", "2"].map { end in
          Group(transport: .fcm, fingerprint: "project " + long + end, platform: Platform(long + end))
        }
        var answers = BatchAnswers(lease: batch.lease)
        for (number, group) in groups.enumerated() {
          let reason = Reason(rawValue: long + "\(number)")
          answers.tally.append(
            TallyLine(group: group, outcome: .transientlyFailed, reason: reason, count: min(number + 1, 2)))
        }
        answers.circumstantial = [batch.circumstantial(5, group: groups[1])]
        try await scene.settle(.answers(answers))
        let tally = try await scene.job(job).tally
        try expect(tally.map(\.count).sorted(), is: [1, 1, 2, 2], "the counts of the lines")
        try expect(Set(tally.map(\.group)), is: Set(groups), "the groups of the lines")
        try expect(Set(tally.map(\.reason)).count, is: 4, "reasons")
        let record = try await scene.witnesses(batch.lease, groups[1])
        try expect(record.recordCircumstantialSince, is: 1, "circumstantial answers on record for the second")
        try expect(record.answered, is: 3, "answered recipients of the second")
      },
      check("workers are told apart byte by byte", law: "law 8") { scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue()
        let name = "host.example/\u{1F600} 'x'-" + String(repeating: "w", count: 160)
        let batch = try await scene.claim(name)
        for other in [name.uppercased(), name + " ", String(name.dropLast())] {
          try expect(
            try await scene.renew(batch.lease, by: other, milliseconds: 60_000).isOwned, is: false,
            "whether a worker of another name owns the batch")
        }
        try expect(
          try await scene.renew(batch.lease, by: name, milliseconds: 60_000).isOwned, is: true,
          "whether its owner owns the batch")
        guard case .workers(let workers) = try await scene.store.jobs(.workers) else { return }
        try expect(
          workers.filter { $0.leases > 0 }.map(\.worker.rawValue), is: [name], "the workers that are listed with leases"
        )
        try await scene.deliver(batch)
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
      },
      check("a settlement that is refused writes nothing", law: "law 4") { scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        var answers = batch.delivered(but: [0])
        answers.tally.append(
          TallyLine(group: .android, outcome: .pruned, evidence: .conclusive, reason: "UNREGISTERED", count: 1))
        answers.circumstantial = [batch.circumstantial(1)]
        answers.failure = .example
        try await expectRefusal(.invalidRequest, "a rejection that is counted with its answer") {
          _ = try await scene.store.settle(.answers(answers))
        }
        try expect(try await scene.job(job).counts, is: JobCounts(), "the counts after it")
        try expect(try await scene.job(job).state, is: .running, "the state after it")
        let record = try await scene.witnesses(batch.lease, .android)
        try expect(record.recordCircumstantialSince, is: 0, "circumstantial answers on record")
        let rejections = try await scene.reject([0, 1], of: batch)
        let made = batch.prunes(rejections + [batch.rejection(2)])
        try await expectRefusal(.invalidRequest, "prunes with a rejection that nobody recorded") {
          _ = try await scene.store.settle(.prunes(made))
        }
        try expect(try await scene.deviceTokens().count, is: 4, "tokens that are left")
        try expect(try await scene.job(job).counts.permanentlyRejected, is: 0, "rejections counted")
        let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
        try expect(pruned.outcomes, is: [.pruned, .pruned], "what became of the recorded ones")
      },
    ]
  }

  /// Up to two hundred characters, as an account keeps them.
  private static var oddWords: [String] {
    [
      "a zero \u{0} within", "\u{1F600} 'quoted' \"twice\" \\ back", "tab\tnew\nline\r", "\u{feff}\u{202e}\u{ffff}",
      String(repeating: "\u{1F600}", count: 200), String(repeating: "x", count: 200), "'; DROP TABLE zonai_jobs; --",
      "e\u{301}\u{fffd}", "{\"json\": [1, null]}", "$1 ? :name %s",
    ]
  }
}

extension String {
  /// Without zero characters, for which not every database has room.
  fileprivate var writable: String { String(unicodeScalars.filter { $0.value != 0 }) }
}
