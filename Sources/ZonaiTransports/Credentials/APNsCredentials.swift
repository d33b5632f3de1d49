import ZonaiCore
import ZonaiThreads

/// What one APNs lane sends with: its key, read again when the file changed, and the key's provider token.
///
/// It runs on a thread of its own, since it reads the key file.
actor APNsCredentials {
  private nonisolated let executor: ThreadExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A provider token as it is sent.
  struct Current: Sendable, Hashable {
    var authorization: Authorization
    fileprivate var token: Secret
    /// The digest of the key that signed it. A connection belongs to one key.
    var key: String
  }

  /// Set by `open`, before anything else is asked.
  private var keys: APNsKeyFile?
  private let configuration: APNsConfiguration
  private let clock: TransportClock
  private let registry: ProviderTokenRegistry
  private var last: Current?

  init(
    configuration: APNsConfiguration, clock: TransportClock, registry: ProviderTokenRegistry, executor: ThreadExecutor
  ) {
    self.configuration = configuration
    self.clock = clock
    self.registry = registry
    self.executor = executor
  }

  /// Reads the key. Mints no token yet.
  func open() throws(SetupError) -> [SetupWarning] {
    let keys = try APNsKeyFile(configuration.key)
    self.keys = keys
    return keys.warnings
  }

  /// The token to send with. The key file is read again when it changed; one that cannot be used leaves the old key.
  func current() async -> Result<Current, LaneRefusal> {
    keys?.readIfChanged()
    guard let key = keys?.key else { return .failure(LaneRefusal(SigningKey.outOfMemory)) }
    do throws(TokenShortage) {
      return .success(sent(try await tokens(key).current(secrets: configuration.secrets, clock: clock), key))
    } catch {
      return .failure(LaneRefusal(error.verdict))
    }
  }

  /// The token to send with, if it is there.
  func ready() async -> Current? {
    keys?.readIfChanged()
    guard let key = keys?.key,
      let token = await tokens(key).ready(secrets: configuration.secrets, clock: clock)
    else { return nil }
    return sent(token, key)
  }

  /// The token to send with after APNs called this one expired.
  func current(afterExpiryOf refused: Current) async -> Result<Current, LaneRefusal> {
    guard let key = keys?.key, key.digest == refused.key else { return await current() }
    do throws(TokenShortage) {
      let token = try await tokens(key).current(
        afterExpiryOf: refused.token, secrets: configuration.secrets, clock: clock)
      return .success(sent(token, key))
    } catch {
      return .failure(LaneRefusal(error.verdict))
    }
  }

  /// Why the key file, as it was last seen, is not used; nil when it is.
  var problem: SetupError? { keys?.problem }

  private func tokens(_ key: APNsKey) -> ProviderTokens {
    registry.tokens(of: ProviderTokenMint(teamId: configuration.teamId, keyId: configuration.keyId, key: key))
  }

  private func sent(_ token: Secret, _ key: APNsKey) -> Current {
    if let last, last.token == token, last.key == key.digest { return last }
    let generation = (last?.authorization.generation ?? 0) + 1
    let current = Current(
      authorization: Authorization(field: "bearer \(token.value)", generation: generation), token: token,
      key: key.digest)
    last = current
    return current
  }
}

extension TokenShortage {
  /// What it means for the job.
  fileprivate var verdict: Verdict {
    switch self {
    case .cannotSign: SigningKey.outOfMemory
    case .notShared(let words):
      Verdict(
        .transientlyFailed, fault: .service, retry: .attempts, reason: "tokenNotShared",
        words: ServiceWords.shortened(
          "the place where the processes share their provider token cannot be used: \(words)"))
    case .wrongClock(let age, let isShared):
      Verdict(
        .jobFails, fault: .credentials, reason: "ExpiredProviderToken", status: 403,
        words:
          "APNs calls a provider token expired that was made \(age / 1000) seconds ago by \(TokenShortage.clock(isShared)), "
          + "which must be wrong; set it right and resume",
        names: TokenShortage.clock(isShared))
    }
  }

  private static func clock(_ isShared: Bool) -> String {
    isShared ? "the clock of the store that shares it" : "this machine's clock"
  }
}

/// An APNs key with the source that it came from, read again when the file changed.
///
/// Confined to the thread of the `APNsCredentials` that owns it.
final class APNsKeyFile {
  private(set) var key: APNsKey
  let warnings: [SetupWarning]
  private let source: KeySource
  private let setting: String
  private var stamp: KeyFile.Stamp?

  init(_ source: KeySource) throws(SetupError) {
    if case .file = source { setting = "apns.keyFile" } else { setting = "apns.key" }
    let file = try KeyFile(reading: source, setting: setting)
    key = try APNsKey(pem: file.text, source: source, setting: setting)
    warnings = file.warnings(source, setting, key.repairs)
    self.source = source
    stamp = file.stamp
  }

  /// A file that cannot be used now may be half written: the old key stays, and the file is read again next time.
  func readIfChanged() {
    guard case .file = source else { return }
    let now = KeyFile.stamp(of: source)
    if now != nil, now == stamp {
      problem = nil
      return
    }
    do throws(SetupError) {
      let file = try KeyFile(reading: source, setting: setting)
      key = try APNsKey(pem: file.text, source: source, setting: setting)
      stamp = file.stamp
      problem = nil
    } catch {
      problem = error
    }
  }

  /// Why the file, as it is now, is not used.
  private(set) var problem: SetupError?
}
