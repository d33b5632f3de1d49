/// Runs the jobs of actors and tasks one after the other on one named thread of its own.
///
/// For actors, return `asUnownedSerialExecutor()` as their `unownedExecutor`; for tasks, pass it as
/// `Task(executorPreference:)`. A job may block: nobody else waits for this thread, but everything on it does.
///
/// `shutdown` lets what is queued run, then ends the thread. A job that comes later is still run, since a task that is
/// never resumed would hang for ever: by a new thread that ends when it has nothing to do.
public final class ThreadExecutor: SerialExecutor, TaskExecutor {
  private let queue: JobQueue
  /// The name of the thread.
  public let name: String

  /// Starts the thread. Throws when the system has none left to give.
  public init(name: String) throws(ThreadStartError) {
    let queue = JobQueue(name: name)
    self.name = name
    self.queue = queue
    try queue.start()
  }

  deinit { queue.close() }

  public func enqueue(_ job: consuming ExecutorJob) {
    queue.add(QueuedJob(job: UnownedJob(job), serial: asUnownedSerialExecutor(), task: asUnownedTaskExecutor()))
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  /// Whether the caller runs on this executor's thread.
  public var isCurrent: Bool { queue.isCurrent }

  public func checkIsolated() {
    precondition(isCurrent, "expected to run on the thread \(name)")
  }

  /// Lets the queued jobs run, ends the thread and waits for that. On the thread itself it does not wait.
  ///
  /// It blocks: call it from a thread that may, or use `close()`.
  public func shutdown() {
    queue.close()
    queue.join()
  }

  /// Lets the queued jobs run and then ends the thread, without waiting for it.
  public func close() { queue.close() }
}
