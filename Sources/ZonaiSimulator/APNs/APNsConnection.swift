/// What APNs remembers about one connection.
final class APNsConnection {
  /// Team and key of the first valid token, which bind the connection.
  var binding: (teamID: String, keyID: String)?
  /// The last token that was read, so that a signature is checked once and not with each request.
  var token: ProviderToken?
  /// Whether a token was found too old here: then no other token helps this connection.
  var isExpired = false
  /// The stream limit that the client was told last.
  var streamLimit: UInt32 = 1
  /// A limit that a scripted fault set, which nothing changes any more.
  var scriptedLimit: UInt32?
}
