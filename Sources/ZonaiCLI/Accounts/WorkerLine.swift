import ZonaiCore
import ZonaiJSON

/// A worker as it is shown: as JSON, or as a line of a list.
struct WorkerLine: Sendable {
  private let worker: WorkerAccount

  init(_ worker: WorkerAccount) { self.worker = worker }

  var json: JSON {
    let status = worker.status
    return [
      "id": .string(worker.worker.rawValue), "app": .string(worker.app.rawValue), "alive": .bool(worker.isAlive),
      "host": (status?.host).json,
      "pid": status.map { .integer(Int64($0.process)) } ?? .null,
      "leases": .integer(Int64(worker.leases)), "jobs": .array(worker.jobs.map { .string($0.rawValue) }),
      "settled": status.map { .integer(Int64($0.settled)) } ?? .null,
      "per_second": rate.map { .number($0) } ?? .null,
      "started_at": .integer(worker.startedAt), "last_seen_at": .integer(worker.lastSeenAt),
      "last_seen_ms_ago": .integer(worker.lastSeenAgo),
    ]
  }

  /// What one that is lost did before is no rate any more.
  private var rate: Double? { worker.isAlive ? worker.status?.settledPerSecond : worker.status.map { _ in 0 } }

  var text: String {
    var parts = [
      worker.worker.rawValue, worker.isAlive ? "alive" : "lost", "seen \(WorkerLine.span(worker.lastSeenAgo)) ago",
    ]
    if let status = worker.status {
      parts.append("\(WorkerLine.rounded(rate ?? 0)) a second, \(status.settled) settled")
    }
    if worker.app != .standard { parts.append("app \(worker.app.rawValue)") }
    parts.append(work)
    return parts.joined(separator: "  ")
  }

  private var work: String {
    guard worker.leases > 0 else { return "idle" }
    let batches = "\(worker.leases) \(worker.leases == 1 ? "batch" : "batches")"
    let shown = worker.jobs.prefix(3).map(\.rawValue).joined(separator: ", ")
    let more = worker.jobs.count > 3 ? " and \(worker.jobs.count - 3) more" : ""
    return "\(batches) of \(worker.jobs.count == 1 ? "job" : "jobs") \(shown)\(more)"
  }

  private static func span(_ milliseconds: Int64) -> String {
    let seconds = milliseconds / 1000
    if seconds < 120 { return "\(seconds) s" }
    return seconds < 7200 ? "\(seconds / 60) min" : "\(seconds / 3600) h"
  }

  private static func rounded(_ rate: Double) -> String {
    rate >= 10 || rate == 0 ? String(Int(rate.rounded())) : String((rate * 10).rounded() / 10)
  }
}
