import Synchronization

/// The provider tokens of a process, by key. They are few and kept for good: a lane that is opened again must not mint again.
final class ProviderTokenRegistry: Sendable {
  /// The one of this process.
  static let process = ProviderTokenRegistry()

  private struct Identity: Hashable {
    let teamId: String
    let keyId: String
    let digest: String
  }

  private let all = Mutex<[Identity: ProviderTokens]>([:])

  func tokens(of mint: ProviderTokenMint) -> ProviderTokens {
    all.withLock { all in
      let identity = Identity(teamId: mint.teamId, keyId: mint.keyId, digest: mint.key.digest)
      if let known = all[identity] { return known }
      let made = ProviderTokens(mint)
      all[identity] = made
      return made
    }
  }
}
