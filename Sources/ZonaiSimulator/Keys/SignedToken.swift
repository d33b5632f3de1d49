import ZonaiJSON

/// A JSON Web Token in its compact form, taken apart but not yet believed.
struct SignedToken {
  let header: JSON
  let claims: JSON
  let signedText: [UInt8]
  let signature: [UInt8]

  /// Nil when it is not three pieces of base64url of which the first two hold JSON objects. RFC
  /// 7515 allows no padding.
  init?(_ text: Substring, allowsPadding: Bool = false) {
    let pieces = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    func decoded(_ piece: Substring.UTF8View) -> [UInt8]? {
      let digits = piece.prefix { $0 != UInt8(ascii: "=") }
      let isPadded = piece.count.isMultiple(of: 4) && piece.count - digits.count <= 2
      return Base64URL.decode(allowsPadding && isPadded ? digits : piece)
    }
    guard pieces.count == 3,
      let header = decoded(pieces[0]).flatMap({ try? JSON(parsing: $0) }), header.object != nil,
      let claims = decoded(pieces[1]).flatMap({ try? JSON(parsing: $0) }), claims.object != nil,
      let signature = decoded(pieces[2])
    else { return nil }
    self.header = header
    self.claims = claims
    self.signature = signature
    signedText = Array(text.utf8[..<pieces[1].endIndex])
  }
}
