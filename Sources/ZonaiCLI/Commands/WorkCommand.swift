import ZonaiCore
import ZonaiJSON

/// `zonai work`: a worker, until it is told to stop or has nothing to do.
struct WorkCommand: Command {
  static let name = "work"
  static let summary = "work on the jobs that are recorded, until told to stop"
  static let usage = "--store URL --config FILE [--once] [--lease SECONDS] [--retention DAYS] [--json]"

  private static let once = Flag(
    "--once", "end when nothing is due that this worker can serve; waits out the leases of workers that died")
  private static let lease = Option<Int>(
    "--lease", "SECONDS", "for how long a batch belongs to this worker unless renewed; overrides leaseSeconds",
    in: 1...3600)

  private static let retention = Option<RetentionDays>(
    "--retention", "DAYS",
    "for how long jobs are kept after they ended, or off to keep them for good; overrides retentionDays, by default 7"
  ) { text throws(ArgumentProblem) in try RetentionDays(text) }

  static let options: OptionList = {
    var list = OptionList()
    StoreOptions.add(to: &list)
    LaneOptions.add(to: &list)
    list.add(once)
    list.add(lease)
    list.add(retention)
    LaneOptions.addServers(to: &list)
    list.add(Shared.json)
    list.add(Shared.help)
    return list
  }()

  static let notes = """
    Start as many as you like, on any machine that reaches the database. ^C, SIGTERM or SIGHUP lets
    what is in flight settle, gives the rest back and says what remains (exit 0; with --once 1); a
    second one ends at once, and the next worker takes over when the lease ends. With --json every
    event is one object a line.

      zonai work --store sqlite:app.db --config zonai.json
    """

  private let address: StoreAddress
  private let lanes: LaneOptions
  private let once: Bool
  private let zonaiOptions: ZonaiOptions

  init(_ arguments: Arguments) throws(CommandFailure) {
    try arguments.noOperands()
    address = try arguments.store()
    once = arguments[Self.once]
    let lease = try arguments.value(Self.lease)
    let retention = try arguments.value(Self.retention)
    lanes = try LaneOptions(arguments)
    var options = lanes.configuration.options
    if let lease { options.leaseSeconds = Double(lease) }
    if let retention { options.retentionSeconds = retention.seconds }
    zonaiOptions = options
  }

  func run(_ context: Context) async throws -> ExitCode {
    let console = context.console
    let store = try address.open(console)
    let reporter = Reporter(console, isWorker: true, waitsForJobs: !once)
    let transports = try await lanes.open(console, secrets: store)
    return try await transports.whileOpen {
      let zonai = try Zonai(
        store: store, app: lanes.app, transports: transports, options: zonaiOptions, observer: reporter.observer)
      context.interruption.onFirst {
        console.note("stopping: what is in flight is settled first; once more ends at once")
        zonai.shutdown()
      }
      let report = once ? try await zonai.drain() : try await zonai.run()
      let open = try await zonai.jobs(states: [.pending, .running], app: lanes.app)
      let others = try await zonai.apps().filter { $0.app != lanes.app && $0.openJobs > 0 && $0.liveWorkers == 0 }
      return end(report, stillOpen: open, others, reporter, console)
    }
  }

  /// `others` are apps with open jobs that no live worker serves.
  private func end(
    _ report: WorkReport, stillOpen: [Job], _ others: [AppAccount], _ reporter: Reporter, _ console: Console
  ) -> ExitCode {
    let owedLater = report.remaining?.owedLater ?? 0
    if console.isJSON {
      console.result([
        "event": "stopped", "batches": .integer(Int64(report.batches)),
        "recipients": .integer(Int64(report.recipients)),
        "jobsEnded": .integer(Int64(report.jobsEnded)), "interrupted": .bool(report.wasStopped),
        "owedLater": .integer(Int64(owedLater)),
        "openJobs": .array(stillOpen.map { .string($0.id.rawValue) }),
        "appsWithoutWorker": .array(others.map { .string($0.app.rawValue) }),
      ])
    } else {
      for job in stillOpen { console.note("remains: " + JobAccount(job: job).listing) }
      for other in others {
        let jobs = other.openJobs == 1 ? "1 open job" : "\(other.openJobs) open jobs"
        console.note("\(other.app) has \(jobs) and no live worker; 'zonai apps list' shows the apps")
      }
      if report.wasStopped {
        console.note(stillOpen.isEmpty ? "stopped; nothing remains" : "stopped; start a worker to go on")
      }
    }
    guard once else { return .done }
    if !report.wasStopped, owedLater > 0, !console.isJSON {
      console.note(
        "\(owedLater) \(owedLater == 1 ? "recipient is" : "recipients are") owed later\(due(report)); run this again then, or leave a worker running"
      )
    }
    return report.wasStopped || owedLater > 0 || reporter.hasUnfinished ? .failed : .done
  }

  private func due(_ report: WorkReport) -> String {
    report.remaining?.nextDueInMilliseconds.map { ", the first in \(($0 + 999) / 1000) s" } ?? ""
  }
}
