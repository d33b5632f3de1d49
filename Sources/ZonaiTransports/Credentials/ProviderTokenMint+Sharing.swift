import ZonaiCore

/// How a provider token comes to be the one of all processes.
extension ProviderTokenMint {
  /// Takes the shared token if it will do, else offers a new one; of two that offer at once, one wins.
  ///
  /// Everything is reckoned by the clock of the place where it is shared. While that is away nothing is replaced: if each
  /// process made its own, Apple would refuse all but one.
  func shared(
    because cause: ProviderTokenCause, by secrets: any SecretStore, _ clock: TransportClock
  ) async throws(TokenShortage) -> HeldToken {
    // Read before asking: rather a little too old than too young.
    var reading = ClockReading(clock)
    let found = try await exchange(nil, notMadeBefore: .min, by: secrets)
    let notMadeBefore: Int64
    switch cause {
    case .due:
      notMadeBefore = found.now - ProviderTokens.renewalAge + 1
    case .refused(let refused):
      if let other = found.secret, other.value != refused.value, found.now - other.madeAt < ProviderTokens.renewalAge {
        return HeldToken(other, isShared: true, now: found.now, reading)
      }
      let age = found.now - refused.madeAt
      // A token from the future tells of a clock that was put back: then a new one is right, too.
      guard abs(age) >= ProviderTokens.leastAge else { throw .wrongClock(age: age, isShared: true) }
      notMadeBefore = max(refused.madeAt + 1, found.now - ProviderTokens.leastAge)
    }
    if let stored = found.secret, stored.madeAt >= notMadeBefore {
      return HeldToken(stored, isShared: true, now: found.now, reading)
    }
    guard let made = token(at: found.now) else { throw .cannotSign }
    reading = ClockReading(clock)
    let agreed = try await exchange(made, notMadeBefore: notMadeBefore, by: secrets)
    return HeldToken(agreed.secret ?? made, isShared: true, now: agreed.now, reading)
  }

  /// Asks once, and leaves a place that does not answer to itself.
  private func exchange(
    _ secret: Secret?, notMadeBefore: Int64, by secrets: any SecretStore
  ) async throws(TokenShortage) -> SecretAnswer {
    let offer = SecretOffer(name: name, secret: secret, notMadeBefore: notMadeBefore)
    let (first, answers) = AsyncStream.makeStream(
      of: Result<SecretAnswer, TokenShortage>.self, bufferingPolicy: .bufferingOldest(1))
    Task {
      do throws(StoreError) {
        answers.yield(.success(try await secrets.exchange(offer)))
      } catch {
        answers.yield(.failure(.notShared(error.description)))
      }
    }
    let silence = TokenShortage.notShared("no answer within \(ProviderTokens.exchangeLimit) ms")
    let timer = Task {
      try await Task.sleep(for: .milliseconds(ProviderTokens.exchangeLimit))
      answers.yield(.failure(silence))
    }
    defer { timer.cancel() }
    for await answer in first { return try answer.get() }
    throw silence
  }

  /// Makes one without asking anybody: that of the slot, which every other process makes, too, whose clock is not far off.
  func own(because cause: ProviderTokenCause, _ clock: TransportClock) throws(TokenShortage) -> HeldToken {
    let (now, reading) = (clock.wall(), ClockReading(clock))
    var made = repeatable(at: now)
    if case .refused(let refused) = cause {
      let age = now - refused.madeAt
      guard abs(age) >= ProviderTokens.leastAge else { throw .wrongClock(age: age, isShared: false) }
      // The slot's was refused: the clock is behind, and one that is made now may be young enough.
      if made?.madeAt == refused.madeAt { made = token(at: now) }
    }
    guard let made else { throw .cannotSign }
    return HeldToken(made, isShared: false, now: now, reading)
  }
}
