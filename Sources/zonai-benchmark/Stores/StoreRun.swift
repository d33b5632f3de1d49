import ZonaiCore

/// Pages and settles by the store's own calls, in the order in which the engine makes them, one batch after the other.
enum StoreRun {
  static func run(_ options: StoreOptions) async throws -> StepMeter {
    let store = try Stores.open(options)
    let job = try await Stores.enqueue(in: store)
    let worker = WorkerID(rawValue: "benchmark")
    let request = ClaimRequest(worker: worker, lanes: [Stores.lane.identity], batchSize: options.batch)
    var meter = StepMeter()
    while true {
      let start = Moment.now()
      let claimed = try await store.claim(request)
      guard case .batch(let batch) = claimed else { break }
      meter.paging.add(since: start)
      let rejections = self.rejections(of: batch)
      let answered = Moment.now()
      try await settle(batch, rejections, in: store)
      meter.settling.add(since: answered)
      meter.recipients += batch.recipients.count
      meter.batches += 1
    }
    guard case .job(let ended?) = try await store.jobs(.one(job.id)), ended.state == .completed,
      ended.counts.settled == meter.recipients
    else { throw Options.Mistake(description: "the job did not complete") }
    return meter
  }

  private static func settle(
    _ batch: ClaimedBatch, _ rejections: [Rejection], in store: any Stores.Whole
  ) async throws {
    let delivered = TallyLine(
      group: Stores.group, outcome: .delivered, reason: "delivered", detail: "",
      count: batch.recipients.count - rejections.count)
    try require(
      await store.settle(.answers(BatchAnswers(lease: batch.lease, tally: [delivered], rejections: rejections))))
    guard !rejections.isEmpty else { return }
    guard case .rows(let rows) = try await store.inspect(.rows(batch.lease, rejections)),
      rows.allSatisfy({ $0 != nil })
    else { throw Options.Mistake(description: "the rows of the dead are not as they were read") }
    try require(
      await store.settle(
        .prunes(BatchPrunes(lease: batch.lease, decisions: rejections.map { ($0, .followPolicy) }))))
  }

  private static func require(_ result: SettleResult) throws {
    guard case .committed = result else { throw Options.Mistake(description: "a batch was lost") }
  }

  private static func rejections(of batch: ClaimedBatch) -> [Rejection] {
    stride(from: 0, to: batch.recipients.count, by: Stores.deadEvery).map { index in
      Rejection(
        eventID: "\(batch.lease.job)-\(batch.lease.batch)-1-\(index)", key: batch.recipients.keys[index],
        token: batch.recipients.tokens.token(index), lastSeen: nil, group: Stores.group, evidence: .conclusive,
        reason: "Unregistered", status: 410, words: nil, deadSince: nil)
    }
  }
}
