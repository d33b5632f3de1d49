import Testing
import ZonaiThreads

/// An actor that lives on a thread of its own, as the store's connections do.
private actor Counter {
  private let executor: ThreadExecutor
  private(set) var count = 0

  init(executor: ThreadExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func add() -> Bool {
    count += 1
    return executor.isCurrent
  }
}

@Suite struct ThreadExecutorTests {
  @Test func `an actor on it runs on its thread and nowhere else`() async throws {
    let executor = try ThreadExecutor(name: "test-actor")
    let counter = Counter(executor: executor)
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<1000 { group.addTask { await counter.add() } }
      for await isOnThread in group { #expect(isOnThread) }
    }
    #expect(await counter.count == 1000)
    #expect(!executor.isCurrent)
    executor.shutdown()
  }

  @Test func `a task that prefers it runs on its thread, also after a suspension`() async throws {
    let executor = try ThreadExecutor(name: "test-task")
    let seen = await Task(executorPreference: executor) {
      let first = executor.isCurrent
      await Task.yield()
      return [first, executor.isCurrent]
    }.value
    #expect(seen == [true, true])
    executor.shutdown()
  }

  @Test func `a blocked executor does not hold up another one`() async throws {
    let blocked = try ThreadExecutor(name: "test-blocked")
    let free = try ThreadExecutor(name: "test-free")
    let gate = Signal()
    let waiting = Task(executorPreference: blocked) { gate.wait() }
    #expect(await Task(executorPreference: free) { free.isCurrent }.value)
    gate.raise()
    #expect(await waiting.value)
    blocked.shutdown()
    free.shutdown()
  }

  @Test func `shutting down runs what was queued`() async throws {
    let executor = try ThreadExecutor(name: "test-drain")
    let gate = Signal()
    let ran = Monitor(0)
    let first = Task(executorPreference: executor) { gate.wait() }
    let rest = (0..<50).map { _ in
      Task(executorPreference: executor) { ran.change { $0 += 1 } }
    }
    executor.close()
    gate.raise()
    #expect(await first.value)
    for task in rest { await task.value }
    let count = ran.withLock { $0 }
    #expect(count == 50)
    executor.shutdown()
  }

  @Test func `a job that comes after the shutdown still runs`() async throws {
    let executor = try ThreadExecutor(name: "test-late")
    let counter = Counter(executor: executor)
    executor.shutdown()
    #expect(await counter.add())
    executor.shutdown()
    #expect(await counter.add())
    #expect(await counter.count == 2)
  }

  @Test func `shutting down from its own thread does not wait for itself`() async throws {
    let executor = try ThreadExecutor(name: "test-self")
    #expect(
      await Task(executorPreference: executor) {
        executor.shutdown()
        return executor.isCurrent
      }.value)
  }
}
