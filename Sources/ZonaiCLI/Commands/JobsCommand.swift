import ZonaiCore
import ZonaiJSON

/// `zonai jobs`: lists, shows, cancels and resumes jobs.
struct JobsCommand: Command {
  enum Action: String, CaseIterable { case list, show, cancel, resume }

  static let name = "jobs"
  static let summary = "list, show, cancel or resume jobs"
  static let usage =
    "list|show|cancel|resume [ID] --store URL [--app NAME] [--suspects keep|prune] [--rebound] [--json]"

  private enum Suspects: String, CaseIterable, Sendable { case ask, keep, prune }

  private static let suspects = Option<Suspects>(
    "--suspects", oneOf: Suspects.self,
    "for resume, of recipients that were held back since a whole group answered as if its tokens were bad: count them as "
      + "transient (keep), accept such answers of theirs as dead tokens (prune), or judge them as before (ask, the default)"
  )
  private static let rebound = Flag(
    "--rebound",
    "for resume, of a job whose app is bound to another project, team or environment by now: send what is left as that")
  private static let app = AppOption.option("for list, only jobs of this app; '' is the default one")
  private static let state = Option<JobState>(
    "--state", oneOf: JobState.self, "for list, only jobs in this state")
  private static let limit = Option<Int>(
    "--limit", "N", "for list, the newest N; the default is 100", in: 1...100_000)

  static let options: OptionList = {
    var list = OptionList()
    StoreOptions.add(to: &list)
    list.add(suspects)
    list.add(rebound)
    list.add(app)
    list.add(state)
    list.add(limit)
    list.add(Shared.json)
    list.add(Shared.help)
    return list
  }()

  static let notes = """
    A job that failed or was cancelled keeps its place: after a resume the next worker sends to those who are still owed, and goes
    on from where it stopped.

      zonai jobs list --store sqlite:app.db
      zonai jobs show ID --store sqlite:app.db --json
    """

  private let action: Action
  private let id: JobID?
  private let address: StoreAddress
  private let suspects: SuspectMode
  private let isRebound: Bool
  private let app: AppName?
  private let states: Set<JobState>?
  private let limit: Int

  init(_ arguments: Arguments) throws(CommandFailure) {
    let words = arguments.operands
    let actions = Action.allCases.map(\.rawValue)
    guard let word = words.first else { throw .usage("say what to do: \(actions.joined(separator: ", "))") }
    guard let action = Action(rawValue: word) else {
      throw .usage("'\(word)' is nothing that jobs can do\(Nearest.hint(word, in: actions))")
    }
    self.action = action
    id = action == .list ? nil : JobID(try arguments.operands(named: ["the action", "the job's ID"])[1])
    if action == .list { _ = try arguments.operands(named: ["the action"]) }
    address = try arguments.store()
    let given = try arguments.value(Self.suspects)
    if given != nil, action != .resume { throw .usage("--suspects goes with resume") }
    suspects = SuspectMode(rawValue: given?.rawValue ?? "") ?? .ask
    isRebound = arguments[Self.rebound]
    if isRebound, action != .resume { throw .usage("--rebound goes with resume") }
    app = try arguments.value(Self.app)
    if app != nil, action != .list { throw .usage("--app goes with list: an ID is one job, whatever its app") }
    let state = try arguments.value(Self.state)
    let count = try arguments.value(Self.limit)
    if action != .list, state != nil || count != nil {
      throw .usage("\(state != nil ? Self.state.name : Self.limit.name) goes with list")
    }
    states = state.map { [$0] }
    limit = count ?? 100
  }

  func run(_ context: Context) async throws -> ExitCode {
    let console = context.console
    let zonai = try Zonai(store: try address.open(console))
    guard let id else {
      show(try await zonai.jobs(limit: limit, states: states, app: app), on: console)
      return .done
    }
    switch action {
    case .list: break
    case .show:
      guard let job = try await zonai.job(id) else {
        throw StoreError(.notFound, "there is no job '\(id)'; 'zonai jobs list' shows those there are")
      }
      let workers = job.state.isOpen ? try await zonai.workers().count { $0.isAlive && $0.app == job.app } : nil
      let account = JobAccount(job: job, liveWorkers: workers)
      if console.isJSON { console.result(account.json) } else { console.result(account.text) }
    case .cancel:
      say(try await zonai.cancel(id), "is cancelled; 'zonai jobs resume \(id)' would go on from here", on: console)
    case .resume:
      say(
        try await zonai.resume(id, suspects: suspects, rebound: isRebound),
        "goes on with the next worker ('zonai work')",
        on: console)
    }
    return .done
  }

  private func show(_ jobs: [Job], on console: Console) {
    if console.isJSON {
      console.result(["jobs": .array(jobs.map { JobAccount(job: $0).summary })])
      return
    }
    if jobs.isEmpty {
      console.note("no jobs" + (app.map { " of \($0)" } ?? "") + (states == nil ? " yet" : " in this state"))
    }
    for job in jobs { console.result(JobAccount(job: job).listing) }
  }

  private func say(_ job: Job, _ clause: String, on console: Console) {
    if console.isJSON {
      console.result(JobAccount(job: job).summary)
    } else {
      console.result("job \(job.id) \(clause): \(JobAccount.line(job.counts, owed: job.owed))")
    }
  }
}
