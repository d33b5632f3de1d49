import ZonaiCore
import ZonaiJSON

/// `zonai push`: records a job, and with `--wait` works on it here.
struct PushCommand: Command {
  static let name = "push"
  static let summary = "send a message to every device that a query names"
  static let usage = """
    --store URL --config FILE --table TABLE --token-column COLUMN
             (--title TEXT --body TEXT | --message FILE) [OPTIONS]
    """

  private static let policy = Option<Policy>(
    "--policy", oneOf: Policy.self,
    "what becomes of a row whose token is dead; the default is the configuration's, else clearColumn")
  private static let deletesReferenced = Flag(
    "--delete-referenced-rows", "say that deleteRow is meant on a table that other tables reference")
  private static let idempotencyKey = Option(
    "--idempotency-key", "KEY",
    "the same key with the same content gives the same job, with other content it is refused")
  private static let dryRun = Flag(
    "--dry-run", "check everything, count by platform, show sizes; write nothing and send nothing")
  private static let wait = Flag("--wait", "work on the job in this process, and end when it has ended")

  static let options: OptionList = {
    var list = OptionList()
    StoreOptions.add(to: &list)
    LaneOptions.add(to: &list)
    AudienceOptions.add(to: &list)
    MessageOptions.add(to: &list)
    list.add(policy)
    list.add(deletesReferenced)
    list.add(idempotencyKey)
    list.add(dryRun)
    list.add(wait)
    LaneOptions.addServers(to: &list)
    list.add(Shared.json)
    list.add(Shared.help)
    return list
  }()

  static let notes = """
    The job is recorded, and its id printed; workers ('zonai work') send it. Nothing is written when anything is wrong with table,
    columns, condition, message or policy.

      zonai push --store sqlite:app.db --config zonai.json --table device_tokens --token-column token \\
        --platform-column platform --where "locale = 'en'" --title Hello --body 'The new issue is out' --wait
    """

  private let address: StoreAddress
  private let audience: Audience
  private let message: PushMessage
  private let policy: Policy?
  private let deletesReferenced: Bool
  private let idempotencyKey: String?
  private let isDry: Bool
  private let waits: Bool
  private let lanes: LaneOptions

  init(_ arguments: Arguments) throws(CommandFailure) {
    try arguments.noOperands()
    address = try arguments.store()
    audience = try AudienceOptions.audience(arguments)
    message = try MessageOptions.message(arguments)
    policy = try arguments.value(Self.policy)
    deletesReferenced = arguments[Self.deletesReferenced]
    idempotencyKey = try arguments.value(Self.idempotencyKey)
    isDry = arguments[Self.dryRun]
    waits = arguments[Self.wait]
    if isDry, waits { throw .usage("--dry-run sends nothing, so there is nothing to --wait for; leave one out") }
    lanes = try LaneOptions(arguments)
  }

  func run(_ context: Context) async throws -> ExitCode {
    let console = context.console
    let store = try address.open(console)
    let reporter = Reporter(console)
    let transports = try await lanes.open(console, secrets: store)
    return try await transports.whileOpen {
      let zonai = try Zonai(
        store: store, app: lanes.app, transports: transports, options: lanes.configuration.options,
        observer: reporter.observer)
      if isDry {
        show(
          try await zonai.count(message, to: audience, policy: policy, deletesReferencedRows: deletesReferenced),
          on: console)
        return .done
      }
      let job = try await zonai.push(
        message, to: audience, policy: policy, idempotencyKey: idempotencyKey,
        deletesReferencedRows: deletesReferenced)
      if reporter.wasThere { console.note("the job was there already, under this idempotency key") }
      if waits { return try await work(on: job, zonai, context) }
      enqueued(job, on: console)
      return .done
    }
  }

  // MARK: Recording

  private func enqueued(_ job: Job, on console: Console) {
    if console.isJSON {
      console.result(["id": .string(job.id.rawValue), "state": .string(job.state.rawValue), "work": .string(workLine)])
      return
    }
    console.result("\(job.id)")
    console.note("It is sent by:  \(workLine)")
  }

  private var workLine: String {
    ShellLine.text(["zonai", "work"] + address.repeated + lanes.repeated + ["--once"])
  }

  // MARK: Waiting

  private func work(on job: Job, _ zonai: Zonai, _ context: Context) async throws -> ExitCode {
    let console = context.console
    if !console.isJSON { console.note("job \(job.id)") }
    context.interruption.onFirst {
      console.note("stopping: what is in flight is settled first; once more ends at once")
      zonai.shutdown()
    }
    let ended = job.state.isOpen ? try await zonai.run(only: job.id) : job
    // A job that had ended before has no event to tell of it.
    let whole = try await zonai.job(job.id) ?? ended
    if console.isJSON { console.result(JobAccount(job: whole).json) }
    if ended.state.isOpen {
      console.note("remains: \(JobAccount(job: whole).listing)\nIt goes on with:  \(workLine)")
    } else if !console.isJSON {
      console.result(JobAccount(job: whole).text)
    }
    return ended.state == .completed ? .done : .failed
  }

  // MARK: Counting

  private func show(_ estimate: PushEstimate, on console: Console) {
    if console.isJSON {
      console.result(json(estimate))
      return
    }
    let reach = estimate.reach.map { reach in
      "  \(reach.recipients)  \(reach.platform)  over \(reach.transport?.description ?? "no lane: they would count as transiently failed")"
    }
    let sizes = estimate.sizes.map { "  \($0.transport): \($0.bytes) of \($0.limit) bytes" }
    let key = estimate.audience.key.joined(separator: ", ")
    console.result(
      """
      \(estimate.recipients) recipient\(estimate.recipients == 1 ? "" : "s") in \(audience.table), paged by \(key)
      \((reach + ["the message"] + sizes + estimate.notes.map { "note: \($0.sentence)" }).joined(separator: "\n"))
      """)
    console.note("nothing was written and nothing sent")
  }

  private func json(_ estimate: PushEstimate) -> JSON {
    [
      "recipients": .integer(Int64(estimate.recipients)),
      "key": .array(estimate.audience.key.map { .string($0) }),
      "platforms": .array(
        estimate.reach.map { reach in
          [
            "platform": .string(reach.platform.name), "transport": (reach.transport?.rawValue).json,
            "recipients": .integer(Int64(reach.recipients)),
          ]
        }),
      "sizes": .array(
        estimate.sizes.map { size in
          [
            "transport": .string(size.transport.rawValue), "bytes": .integer(Int64(size.bytes)),
            "limit": .integer(Int64(size.limit)),
          ]
        }),
      "notes": JobAccount.json(estimate.notes),
    ]
  }
}
