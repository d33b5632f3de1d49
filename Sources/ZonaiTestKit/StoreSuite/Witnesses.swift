import ZonaiCore

extension TokenStoreConformance {
  /// What a store remembers of deliveries, in a job and of a lane.
  static var witnesses: [Check<Fixture>] {
    [
      check("a group's witnesses are its own deliveries in this job", law: "section 4, witness") { scene in
        try await scene.makeDevices(12)
        try await scene.enqueue(title: "another")
        try await scene.deliver(try await scene.claim())
        let job = try await scene.enqueue()
        let first = try await scene.claim(size: 4, first: 4, only: job)
        let before = try await scene.witnesses(first.lease, .android)
        try expect(before.delivered, is: 0, "deliveries of another job")
        try expect(before.answered, is: 0, "settled recipients of another job")
        try expect(before.deliveredOnLane, is: 0, "deliveries on the lane by another job")
        try await scene.settle(
          .answers(
            BatchAnswers(
              lease: first.lease,
              tally: [
                TallyLine(group: .android, outcome: .delivered, reason: "delivered", count: 2),
                TallyLine(group: .android, outcome: .transientlyFailed, reason: "UNAVAILABLE", count: 1),
                TallyLine(group: .elsewhere, outcome: .delivered, reason: "delivered", count: 1),
              ])))
        let second = try await scene.claim(size: 4, only: job)
        let android = try await scene.witnesses(second.lease, .android)
        try expect(android.delivered, is: 2, "deliveries of the group")
        try expect(android.answered, is: 3, "settled recipients of the group")
        try expect(android.deliveredOnLane, is: 2, "deliveries on the lane")
        let ios = try await scene.witnesses(second.lease, .ios)
        try expect(ios.delivered, is: 0, "deliveries of another platform's group")
        try expect(ios.answered, is: 0, "settled recipients of another platform's group")
        try expect(ios.deliveredOnLane, is: 2, "deliveries on the lane, for another platform")
      },
      check("circumstantial rejections count from the moment they are recorded", law: "section 4, ceiling") { scene in
        try await scene.makeDevices(8)
        let job = try await scene.enqueue()
        let first = try await scene.claim("anna", size: 4, first: 4)
        var answers = first.delivered(but: [0, 1, 2])
        answers.rejections = [
          first.rejection(0, evidence: .aboutLane), first.rejection(1, evidence: .namesNothing), first.rejection(2),
        ]
        try await scene.settle(.answers(answers))
        let second = try await scene.claim("berta", size: 4)
        try expect(
          try await scene.witnesses(second.lease, .android).circumstantialRejections, is: 2,
          "circumstantial rejections whose prune is to come")
        try await scene.settle(
          .prunes(
            BatchPrunes(
              lease: first.lease,
              decisions: [
                (answers.rejections[0], .followPolicy), (answers.rejections[1], .keep),
                (answers.rejections[2], .followPolicy),
              ])))
        let after = try await scene.witnesses(second.lease, .android)
        try expect(after.circumstantialRejections, is: 2, "circumstantial rejections after their prunes")
        try expect(after.answered, is: 4, "settled recipients, rejections included")
        try expect(
          try await scene.witnesses(second.lease, .ios).circumstantialRejections, is: 0,
          "circumstantial rejections of another group")
        try expect(try await scene.job(job).counts.permanentlyRejected, is: 3, "rejections")
      },
      check("a lane's record outlives the job, by fingerprint and platform", law: "section 4, record") { scene in
        try await scene.makeDevices(4)
        try await scene.enqueue(title: "one")
        let first = try await scene.claim()
        var answers = first.delivered()
        try await scene.settle(.answers(answers))
        try await scene.fixture.advance(milliseconds: 90_000_000)
        try await scene.enqueue(title: "two")
        let second = try await scene.claim()
        let android = try await scene.witnesses(second.lease, .android)
        try expectNear(
          android.recordLastDeliveredAt.map { second.now - $0 }, 90_000_000, "how long ago the group delivered")
        try expectNear(
          android.laneLastDeliveredAt.map { second.now - $0 }, 90_000_000, "how long ago the lane delivered")
        let ios = try await scene.witnesses(second.lease, .ios)
        try expect(ios.recordLastDeliveredAt, is: nil, "the record of another platform")
        try expectNear(
          ios.laneLastDeliveredAt.map { second.now - $0 }, 90_000_000,
          "how long ago the lane delivered, for another platform")
        let elsewhere = try await scene.witnesses(second.lease, .elsewhere)
        try expect(elsewhere.recordLastDeliveredAt, is: nil, "the record of another fingerprint")
        try expect(elsewhere.laneLastDeliveredAt, is: nil, "the lane of another fingerprint")
        // One of each group a job, or the guard would stop it.
        for title in ["two", "three"] {
          let batch = title == "two" ? second : try await scene.claim()
          answers = BatchAnswers(lease: batch.lease)
          answers.circumstantial = [batch.circumstantial(0)]
          if title == "two" { answers.circumstantial.append(batch.circumstantial(1, group: .ios)) }
          answers.owed = batch.givenBack().owed.dropFirst(answers.circumstantial.count).map { $0 }
          try await scene.settle(.answers(answers))
          try await scene.cancel(batch.lease.job)
          if title == "two" { try await scene.enqueue(title: "three") }
        }
        try await scene.enqueue(title: "four")
        let fourth = try await scene.claim()
        try expect(
          try await scene.witnesses(fourth.lease, .android).recordCircumstantialSince, is: 2,
          "circumstantial answers since the last delivery")
        try expect(
          try await scene.witnesses(fourth.lease, .ios).recordCircumstantialSince, is: 1,
          "circumstantial answers of another platform")
        try await scene.deliver(fourth)
        try await scene.enqueue(title: "five")
        let fifth = try await scene.claim()
        let renewed = try await scene.witnesses(fifth.lease, .android)
        try expect(renewed.recordCircumstantialSince, is: 0, "circumstantial answers after a delivery")
        try expectNear(renewed.recordLastDeliveredAt.map { fifth.now - $0 }, 0, "how long ago the group delivered")
      },
    ]
  }
}
