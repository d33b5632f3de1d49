import ZonaiCore
import ZonaiJSON
import ZonaiSQL

/// An app as it is shown: as JSON, or over some lines of a list.
struct AppLine: Sendable {
  private let account: AppAccount

  init(_ account: AppAccount) { self.account = account }

  private var bindings: [LaneBinding] {
    account.bindings.lanes.values.sorted { $0.identity.transport.rawValue < $1.identity.transport.rawValue }
  }

  var json: JSON {
    [
      "app": .string(account.app.rawValue), "open_jobs": .integer(Int64(account.openJobs)),
      "live_workers": .integer(Int64(account.liveWorkers)),
      "transports": .array(
        bindings.map { binding in
          [
            "transport": .string(binding.identity.transport.rawValue), "identity": binding.identity.json,
            "description": .string("\(binding.identity)"), "version": .integer(binding.version),
            "bound_at": .integer(binding.boundAt),
          ]
        }),
    ]
  }

  var text: String {
    let jobs = "\(account.openJobs) open \(account.openJobs == 1 ? "job" : "jobs")"
    let workers = "\(account.liveWorkers) live \(account.liveWorkers == 1 ? "worker" : "workers")"
    var lines = ["\(account.app): \(jobs), \(workers)"]
    if account.openJobs > 0, account.liveWorkers == 0 { lines[0] += "; nothing works on them" }
    if bindings.isEmpty { lines.append("  not bound yet") }
    lines += bindings.map { binding in
      "  \(binding.identity), version \(binding.version) since \(CivilTime.text(binding.boundAt))"
    }
    return lines.joined(separator: "\n")
  }
}
