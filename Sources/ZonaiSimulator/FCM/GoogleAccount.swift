/// A service account and the access tokens that were issued to it.
struct GoogleAccount {
  struct Key {
    var publicKey: PublicKey
    var isRevoked = false
  }

  struct AccessToken {
    var expiresAt: Int64
    var scopes: Set<Substring>
  }

  let projectID: String
  /// Google takes it in place of the id.
  let projectNumber = "118500000001"
  let email: String
  var keys: [String: Key]
  /// The one in `service-account.json`.
  var currentKeyID: String
  /// What `expires_in` promises.
  var accessTokenSeconds: Int64 = 3599
  private(set) var accessTokens: [String: AccessToken] = [:]

  init(projectID: String, keyID: String, publicKey: PublicKey) {
    self.projectID = projectID
    email = "zonai@\(projectID).iam.gserviceaccount.com"
    keys = [keyID: Key(publicKey: publicKey)]
    currentKeyID = keyID
  }

  mutating func issue(scopes: Set<Substring>, now: Int64) -> String {
    // Nobody needs what ran out a day ago, not even to be told so.
    if accessTokens.count > 10_000 { accessTokens = accessTokens.filter { now - $0.value.expiresAt < 86_400 } }
    let text = "ya29.c." + Base64URL.encode(RandomBytes.make(96))
    accessTokens[text] = AccessToken(expiresAt: now + accessTokenSeconds, scopes: scopes)
    return text
  }

  /// Makes every token that was issued so far one that ran out.
  mutating func expireAccessTokens(now: Int64) {
    for text in accessTokens.keys { accessTokens[text]?.expiresAt = now - 1 }
  }

  static let messagingScope: Substring = "https://www.googleapis.com/auth/firebase.messaging"
  static let platformScope: Substring = "https://www.googleapis.com/auth/cloud-platform"
}
