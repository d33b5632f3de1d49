import ZonaiCore
import ZonaiJSON
import ZonaiThreads

/// The access tokens of one service account. One token is kept and renewed in the background before
/// its end, so that no send waits for the endpoint while the token is good. Without a token, one
/// caller asks and the others wait for the same answer.
///
/// It runs on a thread of its own, since it reads the key file and signs.
actor AccessTokens {
  private nonisolated let executor: ThreadExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private struct Kept {
    var authorization: Authorization
    /// In milliseconds of the monotonic clock.
    var renewAt: Int64
    var endsAt: Int64
    /// The number of the key that it is kept for.
    var key: Int
  }

  /// Set by `open`, before anything else is asked.
  private var keys: ServiceAccountFile?
  private let endpoint: TokenEndpoint
  private let clock: TransportClock
  private var kept: Kept?
  /// Counts the keys that the file has had.
  private var key = 1
  private var generation: UInt32 = 0
  /// Every token up to this generation was refused by FCM.
  private var refusedGeneration: UInt32 = 0
  private var renewal: Task<Result<Authorization, LaneRefusal>, Never>?

  /// The longest that a token is renewed before its end; never more than half its life.
  private static let margin: Int64 = 300_000
  /// How long after a failed early renewal the next one is tried, while the old token is still good.
  private static let patience: Int64 = 10_000
  /// `invalid_grant` has been seen to heal within moments.
  private static let pauseAfterInvalidGrant: Int64 = 2_000
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"

  init(endpoint: TokenEndpoint, clock: TransportClock, executor: ThreadExecutor) {
    self.endpoint = endpoint
    self.clock = clock
    self.executor = executor
  }

  /// What the rest of the lane must know of the account.
  struct Account: Sendable {
    let projectId: String
    let warnings: [SetupWarning]
  }

  /// Reads the service account. Asks for no token yet.
  func open(_ source: KeySource, oauthEndpoint: Endpoint?) throws(SetupError) -> Account {
    let keys = try ServiceAccountFile(source, oauthEndpoint: oauthEndpoint)
    self.keys = keys
    return Account(projectId: keys.account.projectId, warnings: keys.warnings)
  }

  /// The token to send with. The key file is read again when it changed.
  func current() async -> Result<Authorization, LaneRefusal> {
    if let refusal = readChangedKey() { return .failure(refusal) }
    if let authorization = good() { return .success(authorization) }
    return await underWay().value
  }

  /// The token to send with, if it is there.
  func ready() -> Authorization? { readChangedKey() == nil ? good() : nil }

  private func good() -> Authorization? {
    // A new key is used at once: the old one may be gone, and its tokens with it.
    guard let kept, kept.key == key, isGood(kept) else { return nil }
    if clock.monotonic() >= kept.renewAt { _ = underWay() }
    return kept.authorization
  }

  /// The token to send with after FCM refused the one of this generation: asks for a new one, unless there already is one.
  func current(afterRefusalOf generation: UInt32) async -> Result<Authorization, LaneRefusal> {
    refusedGeneration = max(refusedGeneration, generation)
    return await current()
  }

  private func isGood(_ kept: Kept) -> Bool {
    kept.authorization.generation > refusedGeneration && clock.monotonic() < kept.endsAt
  }

  /// Why the key file, as it was last seen, is not used; nil when it is.
  var problem: SetupError? { keys?.problem }

  /// A file that cannot be read stops nobody: it may be half written, and the key that was read last goes on. One of another
  /// project stops whoever has no good token.
  private func readChangedKey() -> LaneRefusal? {
    if keys?.readIfChanged() == true { key += 1 }
    guard let problem, problem.code == .notThisLane else { return nil }
    if let kept, isGood(kept) { return nil }
    return LaneRefusal(problem.verdict)
  }

  /// The renewal that is under way, begun if there is none. No `await` may come between the look at what is kept and this:
  /// the renewal that another caller began could end there, and its token would be renewed again.
  private func underWay() -> Task<Result<Authorization, LaneRefusal>, Never> {
    if let renewal { return renewal }
    let begun = Task { await renew() }
    renewal = begun
    return begun
  }

  /// Returns when no renewal is under way.
  func settled() async { while let renewal { _ = await renewal.value } }

  private func renew() async -> Result<Authorization, LaneRefusal> {
    defer { renewal = nil }
    let key = key
    let asked = await ask()
    switch asked {
    case .success(let granted):
      generation += 1
      let now = clock.monotonic()
      let life = granted.seconds * 1000
      let authorization = Authorization(field: "Bearer \(granted.token)", generation: generation)
      kept = Kept(
        authorization: authorization, renewAt: now + life - min(AccessTokens.margin, life / 2), endsAt: now + life,
        key: key)
      return .success(authorization)
    case .failure(let refusal):
      // Renewed early, or for a new key: the old token is still good for a while.
      if var old = kept, isGood(old) {
        old.renewAt = min(clock.monotonic() + AccessTokens.patience, old.endsAt)
        old.key = self.key
        kept = old
        return .success(old.authorization)
      }
      // The key may be refused because it was replaced, by a file that cannot be used.
      if refusal.verdict.fault == .credentials, let problem { return .failure(LaneRefusal(problem.verdict)) }
      return .failure(refusal)
    }
  }

  private func ask() async -> Result<(token: String, seconds: Int64), LaneRefusal> {
    var hasPaused = false
    while true {
      guard let keys, let assertion = assertion(keys) else { return .failure(LaneRefusal(SigningKey.outOfMemory)) }
      switch await endpoint.ask(assertion, keys.target.endpoint) {
      case .granted(let token, let seconds): return .success((token, seconds))
      case .unreachable(let verdict): return .failure(LaneRefusal(verdict))
      case .refused(let answer):
        let verdict = OAuthVerdicts.verdict(for: answer) ?? AccessTokens.noToken(answer)
        guard answer.error == "invalid_grant", !hasPaused else { return .failure(LaneRefusal(verdict)) }
        hasPaused = true
        await clock.pause(AccessTokens.pauseAfterInvalidGrant)
        // The key may have been replaced meanwhile; one that cannot be read leaves the old one.
        if keys.readIfChanged() { key += 1 }
      }
    }
  }

  /// https://developers.google.com/identity/protocols/oauth2/service-account
  private func assertion(_ keys: ServiceAccountFile) -> String? {
    let account = keys.account
    let now = clock.wall() / 1000
    return JSONWebToken.make(
      header: account.privateKeyId.map { ["kid": .string($0)] } ?? [:],
      claims: [
        "iss": .string(account.clientEmail), "scope": .string(AccessTokens.scope),
        "aud": .string(keys.target.audience), "iat": .integer(now), "exp": .integer(now + 3600),
      ], key: account.key)
  }

  /// A 200 without a token, or with an empty one.
  private static func noToken(_ answer: GoogleTokenAnswer) -> Verdict {
    Verdict(
      .transientlyFailed, fault: .service, retry: .attempts, reason: "noAccessToken", status: answer.status,
      words: "the token endpoint answered without an access token")
  }
}

extension SigningKey {
  static var outOfMemory: Verdict {
    Verdict(
      .transientlyFailed, fault: .service, retry: .attempts, reason: "cannotSign",
      words: "OpenSSL could not sign a token; the machine may be out of memory")
  }
}
