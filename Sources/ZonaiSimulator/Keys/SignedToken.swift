import ZonaiJSON

/// A JSON Web Token in its compact form, taken apart but not yet believed.
struct SignedToken {
  let header: JSON
  let claims: JSON
  let signedText: [UInt8]
  let signature: [UInt8]

  /// Nil when it is not three pieces of base64url of which the first two hold JSON objects.
  init?(_ text: Substring) {
    let pieces = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard pieces.count == 3,
      let header = Base64URL.decode(pieces[0]).flatMap({ try? JSON(parsing: $0) }), header.object != nil,
      let claims = Base64URL.decode(pieces[1]).flatMap({ try? JSON(parsing: $0) }), claims.object != nil,
      let signature = Base64URL.decode(pieces[2])
    else { return nil }
    self.header = header
    self.claims = claims
    self.signature = signature
    signedText = Array(text.utf8[..<pieces[1].endIndex])
  }
}
