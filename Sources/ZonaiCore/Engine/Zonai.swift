import Synchronization

/// Sends one push message to every device that a query names, and keeps the table of device tokens clean while it does so.
///
///     let zonai = try Zonai(store: store, transports: [fcm, apns])
///     let job = try await zonai.push(message, to: Audience("device_tokens", token: "token"))
///     try await zonai.run()
///
/// `push` records a job durably and returns; `run` and `drain` work on what is recorded, in this process or in any number of
/// others. One `Zonai` may do both.
public final class Zonai: Sendable {
  public let store: any TokenStore & JobStore
  public let options: ZonaiOptions
  /// The app that this process enqueues for and works on.
  public let app: AppName
  let transports: [TransportName: any Transport]
  let tables: [TableName: any DescribedTable]
  let handler: PushRejectionHandler?
  let observer: ZonaiObserver
  let clock: any EngineClock
  let governor = LaneGovernor()
  let prepared: PreparedJobs
  let hookThreads: HookThreads
  /// Whether the store has ever answered: one that never did is a mistake in its address, not an outage.
  let storeWasReached = Atomic(false)
  private let stopping = StopSignal()

  /// Throws a `ZonaiError` when an option is out of its range, or a transport or table is given twice.
  ///
  /// - Parameters:
  ///   - app: the app that jobs are enqueued for and worked on; one of its own for each
  ///     configuration that shares the database with others.
  ///   - transports: the lanes of this process; none is enough to enqueue with given routes, to list, cancel and resume.
  ///   - tables: tables that are described by their own types; others work by their names. One that is described without
  ///     a schema stands for its name in every schema that is not described itself.
  ///   - onPushRejected: asked before anything is done to a row whose token was reported dead, under every policy.
  ///   - observer: hears every event; be quick in it.
  ///   - clock: only tests bring one.
  public init(
    store: any TokenStore & JobStore, app: AppName = .standard, transports: [any Transport] = [],
    tables: [any DescribedTable] = [], options: ZonaiOptions = ZonaiOptions(),
    onPushRejected: PushRejectionHandler? = nil, observer: @escaping ZonaiObserver = { _ in },
    clock: (any EngineClock)? = nil
  ) throws(ZonaiError) {
    try options.validate()
    if let problem = app.problem { throw ZonaiError(.invalidOption, problem) }
    var lanes: [TransportName: any Transport] = [:]
    for transport in transports {
      let name = transport.lane.transport
      guard lanes.updateValue(transport, forKey: name) == nil else {
        throw ZonaiError(.describedTwice, "there are two transports named \(name); give one of each name")
      }
    }
    var described: [TableName: any DescribedTable] = [:]
    for table in tables {
      guard described.updateValue(table, forKey: table.name) == nil else {
        throw ZonaiError(.describedTwice, "the table \(table.name) is described twice; describe it once")
      }
    }
    if let clock {
      self.clock = clock
    } else {
      do { self.clock = try ThreadClock() } catch { throw ZonaiError(.noThread, error.description) }
    }
    self.store = store
    self.options = options
    self.app = app
    self.transports = lanes
    self.tables = described
    handler = onPushRejected
    self.observer = observer
    prepared = PreparedJobs(transports: lanes)
    hookThreads = HookThreads(atOnce: options.hooksAtOnce, abandonedLimit: options.abandonedHooksLimit)
  }

  /// The same with a hook that is a type.
  public convenience init(
    store: any TokenStore & JobStore, app: AppName = .standard, transports: [any Transport] = [],
    tables: [any DescribedTable] = [], options: ZonaiOptions = ZonaiOptions(),
    onPushRejected hook: some PushRejectionHook, observer: @escaping ZonaiObserver = { _ in },
    clock: (any EngineClock)? = nil
  ) throws(ZonaiError) {
    try self.init(
      store: store, app: app, transports: transports, tables: tables, options: options,
      onPushRejected: { try await hook.onPushRejected($0) }, observer: observer, clock: clock)
  }

  /// The hook that is asked about rows of this table: its own, else the general one.
  func hook(for table: TableName) -> PushRejectionHandler? { described(table)?.hook ?? handler }

  /// A table that was described without a schema answers for its name in any schema that is not described itself: a job
  /// may name the default schema, whose name only the database knows.
  func described(_ table: TableName) -> (any DescribedTable)? { tables[table] ?? tables[TableName(table.name)] }

  /// What this process is configured for.
  var lanes: [LaneIdentity] { transports.values.map(\.lane.identity).inOrder }

  // MARK: Working

  /// Works until the task is cancelled or `shutdown` is called; then claims nothing more, settles what is in flight within
  /// `gracePeriodSeconds`, and gives its leases back.
  ///
  /// Throws the `StoreError` or `ZonaiError` that no retry helped against, also after settling what
  /// is in flight: `otherBinding`, before anything is written, when the app is bound to other lanes
  /// than this process has; `rebound` when it was bound to others meanwhile.
  @discardableResult
  public func run() async throws -> WorkReport { try await work(for: .stay) }

  /// Works until nothing is due that this process can serve, waiting out the leases of workers that may be dead.
  ///
  /// `WorkReport.remaining` says what is owed later, and which jobs need a transport that is not here.
  @discardableResult
  public func drain() async throws -> WorkReport { try await work(for: .drain) }

  /// Works on one job until it has ended or this worker was stopped, and returns the job as it is then.
  ///
  /// It waits for those who are owed later, a service that is away included. Throws a `ZonaiError` when the job needs a
  /// transport that is not here.
  public func run(only id: JobID) async throws -> Job {
    try await work(for: .finish(id))
    guard let job = try await job(id) else { throw ZonaiError.noSuchJob(id) }
    return job
  }

  /// Tells every worker of this `Zonai` to stop, now and for good. Returns at once; `run` returns when all is settled.
  public func shutdown() { stopping.raise() }

  @discardableResult
  private func work(for goal: Worker.Goal) async throws -> WorkReport {
    let worker = try Worker(self)
    let listening = stopping.listen { worker.stop.raise() }
    defer { stopping.forget(listening) }
    // Unstructured, so that a cancellation stops the claiming and not the settling.
    let work = Task { try await worker.work(for: goal) }
    return try await withTaskCancellationHandler {
      try await work.value
    } onCancel: {
      worker.stop.raise()
    }
  }
}
