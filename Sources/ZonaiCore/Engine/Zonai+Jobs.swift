/// Jobs that were enqueued, by this process or another.
extension Zonai {
  /// The job as it stands now; nil when there is none of this name.
  public func job(_ id: JobID) async throws(StoreError) -> Job? {
    guard case .job(let job) = try await store.jobs(.one(id)) else { throw StoreError.answeredAnotherQuestion }
    return job
  }

  /// The newest jobs first, in all states or in some, of every app or of one.
  public func jobs(
    limit: Int = 100, states: Set<JobState>? = nil, app: AppName? = nil
  ) async throws(StoreError) -> [Job] {
    guard case .jobs(let jobs) = try await store.jobs(.list(limit: limit, states: states, app: app)) else {
      throw StoreError.answeredAnotherQuestion
    }
    return jobs
  }

  /// The workers of this database, in any process on any machine, idle ones and those that were lost within a day included.
  public func workers() async throws(StoreError) -> [WorkerAccount] {
    guard case .workers(let workers) = try await store.jobs(.workers) else { throw StoreError.answeredAnotherQuestion }
    return workers
  }

  /// Stops the job where it is. What is in flight is settled; it can be resumed.
  @discardableResult
  public func cancel(_ id: JobID) async throws(StoreError) -> Job { try await change(.cancel(id)) }

  /// Lets a failed or cancelled job go on from where it stopped, with those who are owed first.
  ///
  /// `suspects` says what becomes of recipients that the batch guard held back: by default they are
  /// sent to again and judged as before. `rebound` says that a job may go on that was begun as
  /// another project, team or environment than its app is bound to by now.
  @discardableResult
  public func resume(
    _ id: JobID, suspects: SuspectMode = .ask, rebound: Bool = false
  ) async throws(StoreError) -> Job {
    try await change(.resume(id, suspects: suspects, rebound: rebound))
  }

  /// Removes jobs that ended longer ago than this; returns how many.
  @discardableResult
  public func removeJobs(endedBefore seconds: Double) async throws(StoreError) -> Int {
    guard case .removed(let count) = try await store.change(.retain(milliseconds: seconds.milliseconds)) else {
      throw StoreError.answeredAnotherQuestion
    }
    return count
  }

  private func change(_ change: JobChange) async throws(StoreError) -> Job {
    guard case .job(let job) = try await store.change(change) else { throw StoreError.answeredAnotherQuestion }
    return job
  }
}
