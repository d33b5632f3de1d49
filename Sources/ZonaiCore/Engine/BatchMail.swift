/// What reaches a batch from elsewhere while it waits.
enum BatchMail: Sendable {
  case answered(dispatch: Int, PushBatchResult)
  /// The timer of this number ran out; an older number was replaced meanwhile.
  case timerFired(number: Int)
  /// What other environments said, by index into the recipients.
  case checked([Int: EnvironmentAnswer])
  case stopped(BatchEvent.StopCause)
  case hooked(HookRound.Outcome)
  /// A send took longer than any may, or than its last answers may.
  case sendOverdue(dispatch: Int)
  /// A send whose answers nobody waits for any more.
  case sendGivenUp(dispatch: Int)
  /// The worker's grace time is over.
  case graceOver
}

/// How a batch ended, for the worker that ran it.
enum BatchEnd: Sendable {
  case finished(Job)
  /// The lease is lost, or the job was stopped before anything was sent.
  case abandoned
  /// The store failed for good: the batch is left to its lease.
  case failed(StoreError)
  /// Hooks hold so many threads that nobody can be asked.
  case hooksStuck(Int)
}
