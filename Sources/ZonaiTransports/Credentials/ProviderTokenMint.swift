import ZonaiCore
import ZonaiJSON

/// Makes provider tokens of one key of one team.
/// https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
struct ProviderTokenMint: Sendable {
  let teamId: String
  let keyId: String
  let key: APNsKey

  /// Apple refuses a token that is older.
  static let life: Int64 = 60 * 60_000
  /// How long a slot is: all tokens that are made by `repeatable` within one are the same. Longer than the 20 minutes for
  /// which Apple wants a team to keep its token, and short enough for one to be good for half an hour after its slot.
  static let slot: Int64 = 30 * 60_000

  /// What the processes that share it know it by. The public key's digest is part of it: a wrong key that was put right
  /// must not find its old token.
  var name: String { "apns \(teamId) \(keyId) \(key.digest.prefix(16))" }

  /// A token made at this moment; nil when OpenSSL fails for want of memory.
  func token(at now: Int64) -> Secret? { made(now / 1000, signature: key.key.sign) }

  /// The token of the slot in which this moment lies: byte for byte the same, whichever process makes it.
  func repeatable(at now: Int64) -> Secret? {
    made(ProviderTokenMint.slot(of: now) / 1000, signature: key.key.signRepeatably)
  }

  /// When the slot of this moment began.
  static func slot(of now: Int64) -> Int64 { now - now % slot }

  private func made(_ seconds: Int64, signature: ([UInt8]) -> [UInt8]?) -> Secret? {
    JSONWebToken.make(
      header: ["kid": .string(keyId)], claims: ["iss": .string(teamId), "iat": .integer(seconds)],
      algorithm: key.key.algorithm, signature: signature
    ).map { Secret(value: $0, madeAt: seconds * 1000, endsAt: seconds * 1000 + ProviderTokenMint.life) }
  }
}
