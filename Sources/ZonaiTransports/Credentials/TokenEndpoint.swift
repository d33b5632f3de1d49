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

    /// The address in service accounts that Google gave out until about 2017.
    private static let formerTokenURI = "https://accounts.google.com/o/oauth2/token"

    /// A file must not be able to send grants elsewhere: only Google's own addresses count, and
    /// with an override, which is for tests, this machine's. A grant goes to the override if there
    /// is one, and never to an address of this machine that a file names.
    init(tokenURI: String, override: Endpoint?, setting: String) throws(SetupError) {
      let current = tokenURI == Target.formerTokenURI ? ServiceAccount.googleTokenURI : tokenURI
      let named = try Endpoint(current, setting: "\(setting) (token_uri)")
      let isGoogle = (named.host == "googleapis.com" || named.host.hasSuffix(".googleapis.com")) && named.port == 443
      func refused(_ advice: String) -> SetupError {
        SetupError(
          .malformed, setting: setting,
          "its token_uri is at \(named.host) and not at googleapis.com, so nothing is sent there; \(advice)")
      }
      guard isGoogle || named.isLoopback else { throw refused("download the service account's key again") }
      audience = current
      guard let override else {
        guard isGoogle else {
          throw refused("if it is a simulator's, name its folder with --simulator (in code: oauthEndpoint)")
        }
        endpoint = named
        return
      }
      let path = override.path.isEmpty ? named.path : override.path
      endpoint = Endpoint(host: override.host, port: override.port, path: path)
    }
  }
}
