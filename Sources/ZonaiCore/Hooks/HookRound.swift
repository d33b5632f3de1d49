import Synchronization
import ZonaiThreads

/// Asks the hooks of one batch: a few at once, each with its limit, all of them with a budget.
final class HookRound: Sendable {
  struct Limits: Sendable {
    var timeout: Int64
    var budget: Int64
    var atOnce: Int
  }

  struct Outcome: Sendable {
    /// In the order of the questions; nil for one that was not asked, or not answered before the round was given up.
    var answers: [BatchPrunes.Decision?]
    var failed = 0
    /// No thread was left to ask on.
    var isStuck = false
  }

  private enum Ending: Sendable {
    case answered(HookAnswer)
    case threw(any Error)
    case timedOut
    case givenUp
  }

  private struct State {
    var next = 0
    var outcome: Outcome
    var isGivenUp = false
    var underWay: [Int: OneShot<Ending>] = [:]
    /// Who waits for a thread, by the number of the asker.
    var waiting: [Int: OneShot<HookThreads.Turn>] = [:]
  }

  private let questions: [PushRejection]
  private let hook: PushRejectionHandler
  private let threads: HookThreads
  private let clock: any EngineClock
  private let limits: Limits
  private let observer: ZonaiObserver
  private let state: Mutex<State>

  init(
    _ questions: [PushRejection], hook: @escaping PushRejectionHandler, threads: HookThreads, clock: any EngineClock,
    limits: Limits, observer: @escaping ZonaiObserver
  ) {
    self.questions = questions
    self.hook = hook
    self.threads = threads
    self.clock = clock
    self.limits = limits
    self.observer = observer
    state = Mutex(State(outcome: Outcome(answers: Array(repeating: nil, count: questions.count))))
  }

  func ask() async -> Outcome {
    let deadline = clock.now + limits.budget
    // Other batches' hooks may hold every thread: nobody waits for one beyond the budget.
    let budget = Task { [clock] in
      do { try await clock.sleep(until: deadline) } catch { return }
      self.release()
    }
    await withDiscardingTaskGroup { group in
      for asker in 0..<min(limits.atOnce, questions.count) {
        group.addTask { await self.askInTurn(asker, until: deadline) }
      }
    }
    budget.cancel()
    return state.withLock { $0.outcome }
  }

  /// Asks nobody more, and waits for no answer that is outstanding.
  func giveUp() {
    let underWay = state.withLock { state in
      state.isGivenUp = true
      return Array(state.underWay.values)
    }
    for ending in underWay { ending.offer(.givenUp) }
    release()
  }

  /// Nobody waits for a thread any longer.
  private func release() {
    let waiting = state.withLock { Array($0.waiting.values) }
    for turn in waiting { turn.offer(.released) }
  }

  private func askInTurn(_ asker: Int, until deadline: Int64) async {
    while let turn = turn(asker, before: deadline) {
      threads.queue(turn)
      let answer = await turn.value
      state.withLock { $0.waiting[asker] = nil }
      switch answer {
      case .released: return
      case .noneLeft:
        state.withLock { $0.outcome.isStuck = true }
        return
      case .thread(let thread):
        guard let (index, ending) = next(before: deadline) else {
          threads.giveBack(thread)
          return
        }
        await ask(index, on: thread, ending)
      }
    }
  }

  /// Where the asker's thread is offered, while there is a question left: under one lock, so that releasing misses nobody.
  private func turn(_ asker: Int, before deadline: Int64) -> OneShot<HookThreads.Turn>? {
    state.withLock { state in
      // Read within the lock: whoever comes after the release sees that the time is over.
      guard clock.now < deadline, !state.isGivenUp, !state.outcome.isStuck, state.next < questions.count else {
        return nil
      }
      let turn = OneShot<HookThreads.Turn>()
      state.waiting[asker] = turn
      return turn
    }
  }

  /// The next question, and where its ending is offered: under one lock, so that giving up misses nobody.
  private func next(before deadline: Int64) -> (Int, OneShot<Ending>)? {
    guard clock.now < deadline else { return nil }
    let ending = OneShot<Ending>()
    return state.withLock { state in
      guard !state.isGivenUp, state.next < questions.count else { return nil }
      let index = state.next
      state.next += 1
      state.underWay[index] = ending
      return (index, ending)
    }
  }

  private func ask(_ index: Int, on thread: ThreadExecutor, _ ending: OneShot<Ending>) async {
    let question = questions[index]
    // Unstructured: a hook that never returns must hold up nobody, and a structured task would be waited for.
    let asking = Task(executorPreference: thread) { [hook, threads] in
      let answer: Ending
      do { answer = .answered(try await hook(question)) } catch { answer = .threw(error) }
      if ending.offer(answer) { threads.giveBack(thread) } else { threads.returned(thread) }
    }
    let timer = Task { [clock, limits] in
      do { try await clock.sleep(milliseconds: limits.timeout) } catch { return }
      ending.offer(.timedOut)
    }
    let result = await ending.value
    timer.cancel()
    record(result, index: index, asking: asking)
  }

  private func record(_ ending: Ending, index: Int, asking: Task<Void, Never>) {
    var answer: BatchPrunes.Decision?
    var failure: HookFailure?
    switch ending {
    case .answered(.followPolicy): answer = .followPolicy
    case .answered(.keep): answer = .keep
    case .threw(let error):
      answer = .followPolicy
      failure = HookFailure(error, about: questions[index])
    case .timedOut:
      answer = .followPolicy
      failure = .timedOut(milliseconds: limits.timeout)
      asking.cancel()
      threads.abandon()
    case .givenUp:
      asking.cancel()
      threads.abandon()
    }
    state.withLock { state in
      state.underWay[index] = nil
      state.outcome.answers[index] = answer
      if failure != nil { state.outcome.failed += 1 }
    }
    if let failure {
      observer(.hookFailed(questions[index].job, eventID: questions[index].eventID, failure))
    }
  }
}
