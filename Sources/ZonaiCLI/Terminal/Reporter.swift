import Synchronization
import ZonaiCore
import ZonaiJSON
import ZonaiThreads

/// Turns the engine's events into what a person, or with `--json` a program, reads while a worker runs.
final class Reporter: Sendable {
  private struct State {
    var saidAt: Int64?
    var hasUnfinished = false
    var wasThere = false
    var idleFor: IdleReason?
  }

  /// Why there is nothing to do, without the time that is left: that changes with every look.
  private struct IdleReason: Equatable {
    var owedLater: Int
    var leasesElsewhere: Int
    var unservable: [JobID]
  }

  private let console: Console
  /// Whether events are results, one object a line, rather than notes.
  private let streams: Bool
  /// Whether having nothing to do is worth saying.
  private let waitsForJobs: Bool
  private let state = Mutex(State())

  /// Whether a job's end is a result of its own; a command that shows the job afterwards says it there.
  private let announcesEnds: Bool

  init(_ console: Console, isWorker: Bool = false, waitsForJobs: Bool = false) {
    self.console = console
    self.waitsForJobs = waitsForJobs
    streams = isWorker && console.isJSON
    announcesEnds = isWorker && !console.isJSON
  }

  var observer: ZonaiObserver { { [self] event in hear(event) } }

  /// Whether a job was seen to end otherwise than completed.
  var hasUnfinished: Bool { state.withLock { $0.hasUnfinished } }

  /// Whether the job that was pushed was there before, under its idempotency key.
  var wasThere: Bool { state.withLock { $0.wasThere } }

  private func hear(_ event: ZonaiEvent) {
    switch event {
    case .enqueued(_, let wasThere): state.withLock { $0.wasThere = wasThere }
    case .settled(let lease, let jobState, let counts): settled(lease.job, jobState, counts)
    case .jobEnded(let id, let jobState, let counts, let failure): ended(id, jobState, counts, failure)
    case .rejected(let id, let report):
      guard streams else { return }
      console.result([
        "event": "rejected", "id": .string(id.rawValue), "eventId": .string(report.eventID),
        "transport": .string(report.group.transport.rawValue), "platform": .string(report.group.platform.name),
        "reason": .string(report.reason.rawValue), "evidence": .string(report.evidence.rawValue),
      ])
    case .idle(let idle): idled(idle)
    case .noted(let id, let note):
      console.note("\(event)")
      guard streams else { return }
      console.result([
        "event": "noted", "id": .string(id.rawValue), "code": .string(note.code.rawValue),
        "message": .string(note.sentence),
      ])
    case .leaseLost(let lease):
      console.note("\(event)")
      guard streams else { return }
      console.result([
        "event": "leaseLost", "id": .string(lease.job.rawValue), "batch": .integer(lease.batch),
        "message": .string("\(event)"),
      ])
    case .workerStarted, .hookFailed, .pruneRefused, .heartbeatLate, .storeTrouble,
      .transportMisbehaved, .laneSlowed, .jobsRemoved, .environmentChecked:
      console.note("\(event)")
    case .workerStopped, .stopping, .claimed, .sent, .batchStopped: break
    }
  }

  private func settled(_ id: JobID, _ jobState: JobState, _ counts: JobCounts) {
    if streams {
      console.result(line("settled", id, jobState, counts))
      return
    }
    // A person reads one line at a time, a log file is not to be filled.
    let now = MonotonicClock.milliseconds()
    let isDue = state.withLock { state in
      guard now - (state.saidAt ?? .min / 2) >= (console.isTerminal ? 100 : 2000) else { return false }
      state.saidAt = now
      return true
    }
    if isDue { console.progress("job \(id): \(JobAccount.line(counts))") }
  }

  private func idled(_ idle: Idle) {
    let reason = IdleReason(
      owedLater: idle.owedLater, leasesElsewhere: idle.leasesElsewhere, unservable: idle.unservable)
    let isNew = state.withLock { state in
      defer { state.idleFor = reason }
      return state.idleFor != reason
    }
    let isWaiting = idle.owedLater + idle.leasesElsewhere + idle.unservable.count > 0
    if isNew, isWaiting || waitsForJobs { console.note("\(ZonaiEvent.idle(idle))") }
  }

  private func ended(_ id: JobID, _ jobState: JobState, _ counts: JobCounts, _ failure: JobFailure?) {
    if jobState != .completed { state.withLock { $0.hasUnfinished = true } }
    guard streams else {
      if announcesEnds { console.result(JobAccount.ending(id, jobState, counts, failure)) }
      return
    }
    var members = line("ended", id, jobState, counts).object ?? [:]
    members["error"] =
      failure.map { ["code": .string($0.code.rawValue), "message": .string($0.detail)] } ?? .null
    console.result(.object(members))
  }

  private func line(_ event: String, _ id: JobID, _ jobState: JobState, _ counts: JobCounts) -> JSON {
    func number(_ count: Int) -> JSON { .integer(Int64(count)) }
    return [
      "event": .string(event), "id": .string(id.rawValue), "state": .string(jobState.rawValue),
      "delivered": number(counts.delivered), "permanently_rejected": number(counts.permanentlyRejected),
      "transiently_failed": number(counts.transientlyFailed), "expired": number(counts.expired),
      "pruned": number(counts.pruned), "spared": number(counts.spared), "kept": number(counts.kept),
    ]
  }
}
