import ZonaiCore
import ZonaiJSON
import ZonaiSQL

/// A job as it is shown: as JSON, as a line of a list, or whole.
struct JobAccount: Sendable {
  let job: Job
  /// How many live workers its app has; nil for a job that waits for none, or if it was not asked.
  var liveWorkers: Int?

  // MARK: JSON

  var json: JSON {
    guard case .object(var members) = summary else { return .null }
    let definition = job.definition
    // What a request of SQL may hold, so that one can be copied from here; what is not set is null.
    members["message"] = whole(
      definition.message.json,
      ["title": nil, "body": nil, "data": [:], "collapseKey": nil, "timeToLive": nil, "isBackground": false])
    members["audience"] = whole(
      definition.audience.json { .string($0.text) },
      ["schema": nil, "key": [], "platform": nil, "lastSeen": nil, "where": nil])
    members["routes"] = definition.routes.json
    members["identities"] = .array(job.identities.map(\.json))
    members["live_workers"] = liveWorkers.map(number) ?? .null
    members["attribution"] = .object(definition.attribution.mapValues { .string($0) })
    members["tally"] = .array(job.tally.map(line))
    members["notes"] = JobAccount.json(job.advice)
    return .object(members)
  }

  /// Without what was asked for and without the tally.
  var summary: JSON {
    let counts = job.counts
    return [
      "id": .string(job.id.rawValue), "app": .string(job.app.rawValue), "state": .string(job.state.rawValue),
      "policy": .string(job.definition.policy.rawValue), "suspects": .string(job.suspects.rawValue),
      "delivered": number(counts.delivered), "permanently_rejected": number(counts.permanentlyRejected),
      "transiently_failed": number(counts.transientlyFailed), "expired": number(counts.expired),
      "pruned": number(counts.pruned), "spared": number(counts.spared), "kept": number(counts.kept),
      "owed": number(job.owed), "next_due_at": job.nextDueAt.json,
      "repeated_by_takeover": number(counts.repeatedByTakeover),
      "repeated_after_lost_answer": number(counts.repeatedAfterLostAnswer),
      "hooks_failed": number(counts.hooksFailed),
      "error": job.error.map { ["code": .string($0.code.rawValue), "message": .string($0.detail)] } ?? .null,
      "created_at": .integer(job.createdAt), "started_at": job.startedAt.json, "finished_at": job.finishedAt.json,
    ]
  }

  private func whole(_ json: JSON, _ unset: [String: JSON]) -> JSON {
    .object(unset.merging(json.object ?? [:]) { _, set in set })
  }

  static func json(_ notes: [JobNote]) -> JSON {
    .array(notes.map { ["code": .string($0.code.rawValue), "message": .string($0.sentence)] })
  }

  private func line(_ line: TallyLine) -> JSON {
    [
      "transport": .string(line.group.transport.rawValue), "platform": .string(line.group.platform.name),
      "outcome": .string(line.outcome.rawValue), "reason": .string(line.reason.rawValue),
      "evidence": (line.evidence?.rawValue).json, "detail": .string(line.detail), "count": number(line.count),
    ]
  }

  private func number(_ count: Int) -> JSON { .integer(Int64(count)) }
}

// MARK: Text

extension JobAccount {
  /// What became of the recipients so far, on one line.
  static func line(_ counts: JobCounts, owed: Int = 0) -> String {
    var parts = ["\(counts.delivered) delivered"]
    if counts.permanentlyRejected > 0 {
      let ways = [("pruned", counts.pruned), ("spared", counts.spared), ("kept", counts.kept)]
        .filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
      parts.append("\(counts.permanentlyRejected) permanently rejected (\(ways.joined(separator: ", ")))")
    }
    if counts.transientlyFailed > 0 { parts.append("\(counts.transientlyFailed) transiently failed") }
    if counts.expired > 0 { parts.append("\(counts.expired) expired") }
    if owed > 0 { parts.append("\(owed) still owed") }
    return parts.joined(separator: ", ")
  }

  /// How a job ended, on one line.
  static func ending(_ id: JobID, _ state: JobState, _ counts: JobCounts, _ failure: JobFailure?) -> String {
    "job \(id) \(state.rawValue): \(line(counts))" + (failure.map { "; \($0.detail)" } ?? "")
  }

  /// The job on one line, for a list.
  var listing: String {
    "\(job.id)  \(job.state.rawValue)  \(job.app == .standard ? "" : "app \(job.app.rawValue)  ")"
      + "\(job.definition.audience.table)  "
      + JobAccount.line(job.counts, owed: job.owed)
  }

  /// The job over several lines.
  var text: String {
    let definition = job.definition
    let counts = job.counts
    var lines = [
      "job        \(job.id)",
      "state      \(job.state.rawValue)" + (job.error.map { ": \($0.detail)" } ?? ""),
      "message    \(definition.message.title ?? definition.message.body ?? "without words")",
      "audience   \(definition.audience.table).\(definition.audience.token)"
        + (definition.audience.predicate.map { " where " + JobAccount.shortened($0.text) } ?? ""),
      "policy     \(definition.policy.rawValue)",
      "so far     \(JobAccount.line(counts, owed: job.owed))",
    ]
    if job.app != .standard { lines.insert("app        \(job.app.rawValue)", at: 1) }
    lines += job.identities.map { "as         \($0)" }
    if liveWorkers == 0 {
      let command = ShellLine.text(["zonai", "work"] + job.app.words)
      lines.append("waiting    no live worker serves \(job.app): start one with '\(command) …'")
    }
    if counts.repeatedByTakeover + counts.repeatedAfterLostAnswer > 0 {
      lines.append(
        "repeated   at most \(counts.repeatedByTakeover) by takeovers, \(counts.repeatedAfterLostAnswer) after a lost answer"
      )
    }
    if counts.hooksFailed > 0 { lines.append("hooks      \(counts.hooksFailed) failed") }
    lines += job.tally.sorted { $0.count > $1.count }.map(tallyText)
    lines += job.advice.map { "note       \($0.sentence)" }
    if job.state == .failed || job.state == .cancelled {
      let option = job.error?.code == .rebound ? " --rebound" : ""
      lines.append("It keeps its place: 'zonai jobs resume \(job.id)\(option)' goes on from there.")
    }
    return lines.joined(separator: "\n")
  }

  private func tallyText(_ line: TallyLine) -> String {
    let group = "\(line.group.transport), \(line.group.platform)"
    let detail = line.detail.isEmpty ? "" : ": \(line.detail)"
    let reason = line.outcome == .delivered ? "" : " \(line.reason)\(detail)"
    return "           \(line.count) \(word(line.outcome)) (\(group))\(reason)"
  }

  /// A condition may list a hundred thousand ids.
  private static func shortened(_ text: String) -> String { text.count > 160 ? text.prefix(160) + "…" : text }

  private func word(_ outcome: TallyLine.Outcome) -> String {
    outcome == .transientlyFailed ? "transiently failed" : outcome.rawValue
  }
}
