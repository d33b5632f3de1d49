/// Checks of tokens in the other environments of their lanes.
extension BatchRunner {
  var isChecking: Bool { checkLimit != nil }

  mutating func check(_ dispatches: [BatchStep.Dispatch]) {
    let permit = SendPermit(following: permit)
    checkLimit = Task {
      [post, clock = worker.clock, end = worker.clock.now + worker.options.sendLimitSeconds.milliseconds] in
      do { try await clock.sleep(until: end) } catch { return }
      permit.revoke()
      post.yield(.checked([:]))
    }
    let asked = dispatches.compactMap { dispatch -> Check? in
      guard let transport = worker.transports[dispatch.transport], let message = messages[dispatch.transport] else {
        return nil
      }
      return Check(transport: transport, message: message, selection: dispatch.selection)
    }
    Task { [post, batch, store = worker.store, observer = worker.observer] in
      var answers: [Int: EnvironmentAnswer] = [:]
      for check in asked {
        let wanted = check.selection.count
        let granted: Int
        do {
          granted = try await store.takeChecks(CheckBudgetRequest(lease: batch.lease, wanted: wanted))
        } catch {
          for index in check.selection { answers[index] = .undecided("checks could not be counted in the store") }
          continue
        }
        for index in check.selection.dropFirst(granted) {
          answers[index] = .undecided("the hour's checks in the other environment are used up")
        }
        let selection = Array(check.selection.prefix(granted))
        guard !selection.isEmpty else { continue }
        let push = PushBatch(
          message: check.message, tokens: batch.recipients.tokens, selection: selection, expiresAt: nil, permit: permit)
        let said = await check.transport.check(push)
        for (index, answer) in zip(selection, said) { answers[index] = answer }
        observer(.environmentChecked(batch.job.id, check.transport.lane.transport, asked: selection.count))
      }
      post.yield(.checked(answers))
    }
  }

  mutating func endChecks() {
    checkLimit?.cancel()
    checkLimit = nil
  }

  private struct Check: Sendable {
    let transport: any Transport
    let message: PreparedMessage
    let selection: [Int]
  }
}
