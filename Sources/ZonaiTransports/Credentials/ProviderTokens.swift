import ZonaiCore

/// The provider tokens of one key of one team: one at a time for the whole process, and for all processes that share
/// secrets.
///
/// Apple counts how often a team renews its token and refuses more than one in 20 minutes, and a
/// token that is older than an hour. So one is made only when there is none, or when the one there
/// is has reached an age between the two; while that one can still be sent, it is replaced in the
/// background. Shared ones are made and age by the clock of the place where they are shared: the
/// clocks of ten machines differ.
/// https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
actor ProviderTokens {
  private let mint: ProviderTokenMint
  private var held: HeldToken?
  private var renewal: Task<Result<Secret, TokenShortage>, Never>?
  /// Until then the shared place is left alone, if it can be: the last attempt failed. By the monotonic clock.
  private var askAgainAt = Int64.min

  /// The age at which a shared token is replaced: ten minutes before Apple refuses it.
  static let renewalAge: Int64 = 50 * 60_000
  /// The age at which a token that could not be replaced is not sent any more: a minute before Apple refuses it.
  static let greatestAge: Int64 = 59 * 60_000
  /// The age below which a token is never replaced.
  static let leastAge: Int64 = 20 * 60_000
  /// How long the place where tokens are shared may take to answer, in milliseconds.
  static let exchangeLimit: Int64 = 30_000
  /// How long after a failed exchange the next one is tried, while the old token is still good.
  static let patience: Int64 = 10_000

  init(_ mint: ProviderTokenMint) { self.mint = mint }

  /// The token to send with.
  func current(secrets: (any SecretStore)?, clock: TransportClock) async throws(TokenShortage) -> Secret {
    if let token = ready(secrets: secrets, clock: clock) { return token }
    let renewed = await underWay(.due, secrets, clock).value
    if case .failure = renewed, let held, held.isGood(clock) { return held.token }
    return try renewed.get()
  }

  /// The token to send with, if it is there. One that is due is replaced in the background; without
  /// others to agree with, the next one is made at once instead.
  func ready(secrets: (any SecretStore)?, clock: TransportClock) -> Secret? {
    guard let held, held.isGood(clock) else { return nil }
    guard held.isDue(clock), clock.monotonic() >= askAgainAt else { return held.token }
    if secrets == nil { return nil }
    _ = underWay(.due, secrets, clock)
    return held.token
  }

  /// The token to send with after APNs called this one expired; none when it is younger than 20 minutes, since a clock must
  /// be at fault then.
  func current(
    afterExpiryOf refused: Secret, secrets: (any SecretStore)?, clock: TransportClock
  ) async throws(TokenShortage) -> Secret {
    // One that began before this was known may bring the refused token back.
    while let renewal { _ = await renewal.value }
    if let held, held.token.value != refused.value { return held.token }
    return try await underWay(.refused(refused), secrets, clock).value.get()
  }

  /// The renewal that is under way, begun if there is none. No `await` may come between the look at what is held and this:
  /// the renewal that another caller began could end there, and its token would be renewed again.
  private func underWay(
    _ cause: ProviderTokenCause, _ secrets: (any SecretStore)?, _ clock: TransportClock
  ) -> Task<Result<Secret, TokenShortage>, Never> {
    if let renewal { return renewal }
    let begun = Task { await renew(cause, secrets, clock) }
    renewal = begun
    return begun
  }

  /// Returns when no renewal is under way.
  func settled() async { while let renewal { _ = await renewal.value } }

  private func renew(
    _ cause: ProviderTokenCause, _ secrets: (any SecretStore)?, _ clock: TransportClock
  ) async -> Result<Secret, TokenShortage> {
    defer { renewal = nil }
    do throws(TokenShortage) {
      let replaced: HeldToken
      if let secrets {
        replaced = try await mint.shared(because: cause, by: secrets, clock)
      } else {
        replaced = try mint.own(because: cause, clock)
      }
      held = replaced
      return .success(replaced.token)
    } catch {
      if case .notShared = error { askAgainAt = clock.monotonic() + ProviderTokens.patience }
      return .failure(error)
    }
  }
}

/// Why a provider token is replaced.
enum ProviderTokenCause: Sendable {
  /// There is none, or its time has come.
  case due
  /// APNs called this one expired.
  case refused(Secret)
}

/// Why there is no provider token to send with.
enum TokenShortage: Error, Hashable {
  /// OpenSSL cannot sign for want of memory.
  case cannotSign
  /// The token that APNs calls expired is too young to be: its age in milliseconds, and whether it is shared.
  case wrongClock(age: Int64, isShared: Bool)
  /// The store that shares the token could not be asked; in its words.
  case notShared(String)
}
