import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A job with the executor that it was given to, which the task that waits for the job keeps alive.
struct QueuedJob: Sendable {
  let job: UnownedJob
  let serial: UnownedSerialExecutor
  let task: UnownedTaskExecutor

  func run() { job.runSynchronously(isolatedTo: serial, taskExecutor: task) }
}

/// The queue behind a `ThreadExecutor`, which the thread can hold without holding the executor.
final class JobQueue: Sendable {
  private struct State {
    var jobs: [QueuedJob] = []
    var isClosing = false
    /// Exactly one thread takes jobs while this is set.
    var hasRunner = false
  }

  private let name: String
  private let state = Monitor(State())
  private let thread = Mutex<NamedThread?>(nil)
  private let runner = Mutex<pthread_t?>(nil)

  init(name: String) { self.name = name }

  var isCurrent: Bool {
    runner.withLock { runner in runner.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  func start() throws(ThreadStartError) {
    state.withLock { $0.hasRunner = true }
    let started = try NamedThread(name: name) { [self] in run() }
    thread.withLock { $0 = started }
  }

  func add(_ job: QueuedJob) {
    let isOrphan = state.change { state in
      state.jobs.append(job)
      defer { state.hasRunner = true }
      return !state.hasRunner
    }
    guard isOrphan else { return }
    do {
      let revived = try NamedThread(name: name) { [self] in run() }
      thread.withLock { $0 = revived }
    } catch {
      // After the shutdown, and no thread to be had: better here than never.
      run()
    }
  }

  func close() { state.change { $0.isClosing = true } }

  func join() { thread.withLock { $0 }?.join() }

  private func run() {
    runner.withLock { $0 = pthread_self() }
    while true {
      let jobs = next()
      if jobs.isEmpty { return }
      for job in jobs { job.run() }
    }
  }

  /// Waits for jobs. None means that there will be none: the runner's role was given up under the same lock.
  private func next() -> [QueuedJob] {
    state.wait { [self] state -> [QueuedJob]? in
      if state.jobs.isEmpty && !state.isClosing { return nil }
      let jobs = state.jobs
      state.jobs = []
      if jobs.isEmpty {
        state.hasRunner = false
        runner.withLock { $0 = nil }
      }
      return jobs
    } ?? []
  }
}
