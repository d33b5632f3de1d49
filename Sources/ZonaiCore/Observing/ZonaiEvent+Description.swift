extension ZonaiEvent: CustomStringConvertible {
  public var description: String {
    switch self {
    case .enqueued(let job, let wasThere):
      wasThere ? "job \(job) was enqueued before, under the same idempotency key" : "job \(job) enqueued"
    case .workerStarted(let worker, let transports):
      "worker \(worker) started with \(transports.map(\.description).sorted().joined(separator: ", "))"
    case .workerStopped(let worker): "worker \(worker) stopped"
    case .claimed(let lease, let recipients, let isTakeover):
      "\(lease) claimed: \(recipients) recipients\(isTakeover ? ", taken over" : "")"
    case .noted(let job, let note): "job \(job): \(note.sentence)"
    case .sent(let lease, let transport, let counts):
      "\(lease) over \(transport): \(counts.delivered) delivered, \(counts.otherwise) answered otherwise, \(counts.notSent) not sent, in \(counts.milliseconds) ms"
    case .laneSlowed(let transport, let milliseconds):
      "\(transport) asks for less traffic: paused for \(milliseconds) ms"
    case .environmentChecked(let job, let transport, let asked):
      "job \(job): \(transport) was asked about \(asked) \(asked == 1 ? "token" : "tokens") in its other environment"
    case .rejected(let job, let report):
      "job \(job): \(report.reason) (\(report.evidence.rawValue)) over \(report.group.transport), event \(report.eventID)"
    case .hookFailed(let job, let eventID, let failure): "job \(job): the hook for event \(eventID) \(failure)"
    case .settled(let lease, let state, let counts): "\(lease) settled, job \(state.rawValue): \(counts)"
    case .pruneRefused(let job, let words): "job \(job): the database refused a prune: \(words)"
    case .jobEnded(let job, let state, let counts, let failure):
      "job \(job) \(state.rawValue): \(counts)\(failure.map { "; \($0)" } ?? "")"
    case .batchStopped(let lease, let cause):
      cause == .jobStopped
        ? "\(lease) stops, since its job was stopped" : "\(lease) stops, since its lease could not be renewed"
    case .leaseLost(let lease): "\(lease) lost to another worker; nothing of it is committed here"
    case .heartbeatLate(let milliseconds): "leases renewed \(milliseconds) ms late"
    case .storeTrouble(let call, let error, let retry):
      "\(call.rawValue) failed: \(error)" + (retry.map { "; again in \($0) ms" } ?? "; given up")
    case .transportMisbehaved(let transport, let what): "\(transport) \(what)"
    case .jobsRemoved(let count):
      "\(count) \(count == 1 ? "job was" : "jobs were") removed: ended longer ago than jobs are kept"
    case .idle(let idle): idle.sentence
    case .stopping(let worker, let batches): "worker \(worker) stops: \(batches) batches in flight are settled first"
    }
  }
}

extension Idle {
  /// Why there is nothing to do, for a person.
  public var sentence: String {
    var parts: [String] = []
    if owedLater > 0 { parts.append("\(owedLater) \(owedLater == 1 ? "recipient is" : "recipients are") owed later") }
    if leasesElsewhere > 0 { parts.append("\(leasesElsewhere) batches belong to other workers") }
    if let next = nextDueInMilliseconds { parts.append("next due in \((next + 999) / 1000) s") }
    if !unservable.isEmpty {
      let jobs = unservable.map(\.rawValue).joined(separator: ", ")
      parts.append("no lane here for \(unservable.count == 1 ? "job" : "jobs") \(jobs)")
    }
    return parts.isEmpty ? "nothing to do" : "nothing to do now: " + parts.joined(separator: "; ")
  }
}

extension BatchLease: CustomStringConvertible {
  public var description: String { "job \(job), batch \(batch)" }
}

extension JobCounts: CustomStringConvertible {
  public var description: String {
    var parts = ["\(delivered) delivered", "\(permanentlyRejected) permanently rejected"]
    if permanentlyRejected > 0 { parts[1] += " (\(pruned) pruned, \(spared) spared, \(kept) kept)" }
    parts.append("\(transientlyFailed) transiently failed")
    if expired > 0 { parts.append("\(expired) expired") }
    return parts.joined(separator: ", ")
  }
}
