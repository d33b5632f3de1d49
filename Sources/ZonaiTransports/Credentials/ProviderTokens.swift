import Synchronization
import ZonaiCore
import ZonaiJSON

/// The provider tokens of one key of one team: one at a time for the whole process, and for all processes that share
/// secrets.
///
/// Apple counts how often a team renews its token and refuses more than one in 20 minutes, and a token that is older than
/// an hour. So one is minted only when there is none, or when the one there is has reached an age between the two; the age
/// counts from its `iat`.
/// https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
actor ProviderTokens {
  private let teamId: String
  private let keyId: String
  private let key: APNsKey
  private var token: Secret?

  /// The age at which a token is replaced: ten minutes before Apple refuses it.
  static let renewalAge: Int64 = 50 * 60_000
  /// The age at which a token that could not be replaced is not sent any more: a minute before Apple refuses it.
  static let greatestAge: Int64 = 59 * 60_000
  /// The age below which a token is never replaced.
  static let leastAge: Int64 = 20 * 60_000

  init(teamId: String, keyId: String, key: APNsKey) {
    self.teamId = teamId
    self.keyId = keyId
    self.key = key
  }

  private struct Identity: Hashable {
    let teamId: String
    let keyId: String
    let digest: String
  }

  private static let all = Mutex<[Identity: ProviderTokens]>([:])

  /// The one of this process. They are few and kept for good: a lane that is opened again must not mint again.
  static func shared(teamId: String, keyId: String, key: APNsKey) -> ProviderTokens {
    all.withLock { all in
      let identity = Identity(teamId: teamId, keyId: keyId, digest: key.digest)
      if let known = all[identity] { return known }
      let made = ProviderTokens(teamId: teamId, keyId: keyId, key: key)
      all[identity] = made
      return made
    }
  }

  /// The token to send with.
  func current(secrets: (any SecretStore)?, now: Int64) async throws(TokenShortage) -> Secret {
    if let token, now - token.madeAt < ProviderTokens.renewalAge { return token }
    do throws(TokenShortage) {
      return try await replace(notMadeBefore: now - ProviderTokens.renewalAge + 1, secrets: secrets, now: now)
    } catch {
      // The old one is good for some minutes more. Until then it is tried again with each call.
      if let token, now - token.madeAt < ProviderTokens.greatestAge { return token }
      throw error
    }
  }

  /// The token to send with after APNs called this one expired; none when it is younger than 20 minutes, since the clock must
  /// be at fault then.
  func current(
    afterExpiryOf refused: Secret, secrets: (any SecretStore)?, now: Int64
  ) async throws(TokenShortage) -> Secret {
    if let token, token.value != refused.value { return token }
    // A token from the future tells of a clock that was put back: then a new one is right, too.
    guard abs(now - refused.madeAt) >= ProviderTokens.leastAge else { throw .wrongClock }
    return try await replace(
      notMadeBefore: max(refused.madeAt + 1, now - ProviderTokens.leastAge), secrets: secrets, now: now)
  }

  /// Takes the shared token if it is young enough, else offers a new one; of two that offer at once, one wins. Without the
  /// shared place nothing is replaced: if each process made its own, Apple would refuse all but one.
  private func replace(
    notMadeBefore: Int64, secrets: (any SecretStore)?, now: Int64
  ) async throws(TokenShortage) -> Secret {
    let before = token
    guard let minted = mint(now) else { throw .cannotSign }
    guard let secrets else {
      token = minted
      return minted
    }
    let agreed: Result<Secret, TokenShortage>
    do throws(StoreError) {
      let offer = SecretOffer(name: name, secret: minted, notMadeBefore: notMadeBefore)
      agreed = .success(try await secrets.exchange(offer) ?? minted)
    } catch {
      agreed = .failure(.notShared(error.description))
    }
    // Somebody else of this process may have been through here while we waited.
    if let token, token != before, token.madeAt >= notMadeBefore { return token }
    let replaced = try agreed.get()
    token = replaced
    return replaced
  }

  /// The key's digest is part of the name: a wrong key that was put right must not find its old token.
  private var name: String { "apns \(teamId) \(keyId) \(key.digest.prefix(16))" }

  private func mint(_ now: Int64) -> Secret? {
    let seconds = now / 1000
    let made = JSONWebToken.make(
      header: ["kid": .string(keyId)], claims: ["iss": .string(teamId), "iat": .integer(seconds)], key: key.key)
    return made.map { Secret(value: $0, madeAt: seconds * 1000) }
  }
}

/// Why there is no provider token to send with.
enum TokenShortage: Error, Hashable {
  /// OpenSSL cannot sign for want of memory.
  case cannotSign
  /// The token that APNs calls expired is too young to be.
  case wrongClock
  /// The store that shares the token could not be asked; in its words.
  case notShared(String)
}
