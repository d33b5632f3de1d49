import ZonaiCore

/// Asks Google's token endpoint once. The grant is a signed statement; what comes back is decoded and not judged.
struct TokenEndpoint: Sendable {
  enum Reply: Sendable {
    /// The token, and for how many seconds it is good.
    case granted(token: String, seconds: Int64)
    case refused(GoogleTokenAnswer)
    case unreachable(Verdict)
  }

  /// Sends the assertion to the endpoint.
  let ask: @Sendable (_ assertion: String, _ endpoint: Endpoint) async -> Reply

  /// Where a service account's grants go, and the audience that they name.
  struct Target: Sendable, Hashable {
    let endpoint: Endpoint
    let audience: String

    /// A file must not be able to send grants elsewhere: without an override, only Google's own host will do.
    init(tokenURI: String, override: Endpoint?, setting: String) throws(SetupError) {
      audience = tokenURI
      let named = try Endpoint(tokenURI, setting: "\(setting) (token_uri)")
      if let override {
        let path = override.path.isEmpty ? named.path : override.path
        endpoint = Endpoint(host: override.host, port: override.port, path: path)
        return
      }
      guard named.host == "googleapis.com" || named.host.hasSuffix(".googleapis.com"), named.port == 443 else {
        throw SetupError(
          .malformed, setting: setting,
          "its token_uri is at \(named.host) and not at googleapis.com, and is not asked for that reason; "
            + "download the service account's key anew")
      }
      endpoint = named
    }
  }
}
