import ZonaiJSON

/// A provider token whose signature was found to be right.
struct ProviderToken {
  let text: String
  let teamID: String
  let keyID: String
  let issuedAt: Int64

  /// Nil for what APNs calls InvalidProviderToken. Reads the token once; age and revocation are looked at per request.
  init?(authorization: String, team: AppleTeam) {
    let words = authorization.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].lowercased() == "bearer", let token = SignedToken(words[1]),
      token.header["alg"]?.string == "ES256",
      let keyID = token.header["kid"]?.string, let key = team.keys[keyID],
      let teamID = token.claims["iss"]?.string, teamID == team.teamID,
      let issuedAt = Self.seconds(token.claims["iat"]),
      key.publicKey.verifiesES256(token.signature, of: token.signedText)
    else { return nil }
    text = authorization
    self.teamID = teamID
    self.keyID = keyID
    self.issuedAt = issuedAt
  }

  /// A number, or the text of one, which a widely used client sends and Apple takes.
  private static func seconds(_ claim: JSON?) -> Int64? { claim?.integer ?? claim?.string.flatMap { Int64($0) } }
}
