import ZonaiCore

extension MemoryState {
  mutating func renew(_ request: RenewRequest) throws(StoreError) -> [RenewedLease] {
    try requireVersion()
    if request.isLast {
      workers[request.worker] = nil
    } else {
      see(request.worker, of: request.app, lease: request.leaseMilliseconds, status: request.status)
    }
    return request.leases.map { lease in
      let state = index(of: lease.job).map { jobs[$0].state } ?? .cancelled
      guard let (job, batch) = owned(lease), batch.owner == request.worker else {
        return RenewedLease(lease: lease, isOwned: false, jobState: state)
      }
      jobs[job].batches[batch.number]?.leaseUntil = now + request.leaseMilliseconds
      return RenewedLease(lease: lease, isOwned: true, jobState: state)
    }
  }

  mutating func inspect(_ request: InspectRequest) throws(StoreError) -> Inspection {
    try requireVersion()
    switch request {
    case .witnesses(let lease, let groups):
      return .witnesses(
        Dictionary(groups.map { ($0, counts(of: $0, in: lease.job)) }, uniquingKeysWith: { first, _ in first }))
    case .rows(let lease, let rejections):
      guard let audience = index(of: lease.job).map({ jobs[$0].audience }) else {
        return .rows(rejections.map { _ in nil })
      }
      return .rows(
        rejections.map { rejection in
          guard let row = row(of: rejection, in: audience), let table = tables[audience.table] else { return nil }
          return Row(columns: table.columnNames, values: table.rows[row])
        })
    }
  }

  func counts(of group: Group, in job: JobID) -> GroupCounts {
    var account = GroupCounts()
    for (key, record) in lanes where key.transport == group.transport && key.fingerprint == group.fingerprint {
      guard let delivered = record.lastDeliveredAt else { continue }
      account.laneLastDeliveredAt = max(delivered, account.laneLastDeliveredAt ?? .min)
    }
    let record = lanes[LaneKey(group)]
    account.recordLastDeliveredAt = record?.lastDeliveredAt
    account.recordCircumstantialSince = record?.circumstantialSince ?? 0
    guard let job = index(of: job).map({ jobs[$0] }) else { return account }
    for (line, count) in job.tally {
      if line.outcome == .delivered, line.group.transport == group.transport,
        line.group.fingerprint == group.fingerprint
      {
        account.deliveredOnLane += count
      }
      guard line.group == group else { continue }
      account.add(count, outcome: line.outcome, evidence: line.evidence)
    }
    for rejection in job.batches.values.flatMap(\.rejections) where rejection.group == group {
      account.add(1, outcome: nil, evidence: rejection.evidence)
    }
    return account
  }
}
