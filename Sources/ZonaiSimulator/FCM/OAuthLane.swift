import ZonaiHTTP
import ZonaiJSON

/// Google's token endpoint, for the grant that service accounts use (RFC 7523).
struct OAuthLane: Sendable {
  let world: World

  private struct Refusal: Error {
    var status = 400
    var error: String
    var description: String

    init(_ error: String, _ description: String) {
      self.error = error
      self.description = description
    }
  }

  func serve(_ exchange: ServerExchange) {
    if exchange.connection.notes == nil {
      exchange.connection.notes = LaneVisit.shared
      world.tally.connected(.oauth)
    }
    let fault = world.faults.strike(.oauth, nil)
    Desk(world: world, lane: .oauth).settle(exchange, token: nil, reply: reply(exchange.request), fault: fault)
  }

  private func reply(_ request: ServerRequest) -> Reply {
    // "/oauth2/v4/token" is the older address, still in use.
    guard request.method == "POST", request.path == "/token" || request.path == "/oauth2/v4/token" else {
      return GoogleAnswer.page(404, at: world.clock)
    }
    do throws(Refusal) {
      let scopes = try judge(request)
      let token = world.google.issue(scopes: scopes, now: world.clock.seconds)
      let body: JSON = [
        "access_token": .string(token), "expires_in": .integer(world.google.accessTokenSeconds),
        "token_type": "Bearer",
      ]
      return GoogleAnswer.json(200, body, label: "200", at: world.clock)
    } catch {
      let body: JSON = ["error": .string(error.error), "error_description": .string(error.description)]
      return GoogleAnswer.json(error.status, body, label: "\(error.status) \(error.error)", at: world.clock)
    }
  }

  private func judge(_ request: ServerRequest) throws(Refusal) -> Set<Substring> {
    let type = request.header("content-type") ?? ""
    guard type.lowercased().hasPrefix("application/x-www-form-urlencoded") else {
      throw Refusal("invalid_request", "Bad Request: the body is to be application/x-www-form-urlencoded")
    }
    let form = FormFields.parse(request.body)
    guard let grant = form["grant_type"] else {
      throw Refusal("invalid_request", "Required parameter is missing: grant_type")
    }
    guard grant == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
      throw Refusal("unsupported_grant_type", "Invalid grant_type: \(grant)")
    }
    guard let assertion = form["assertion"] else {
      throw Refusal("invalid_request", "Required parameter is missing: assertion")
    }
    // Google's own library for Python pads in some versions (google-auth 1.5).
    guard let token = SignedToken(assertion[...], allowsPadding: true) else {
      throw Refusal("invalid_grant", "Bad Request")
    }
    return try judge(token)
  }

  private func judge(_ token: SignedToken) throws(Refusal) -> Set<Substring> {
    guard token.claims["iss"]?.string == world.google.email else {
      throw Refusal("invalid_grant", "Invalid grant: account not found")
    }
    guard token.header["alg"]?.string == "RS256", let key = signer(token), !key.isRevoked,
      key.publicKey.verifiesRS256(token.signature, of: token.signedText)
    else { throw Refusal("invalid_grant", "Invalid JWT Signature.") }
    let now = world.clock.seconds
    guard let issued = token.claims["iat"]?.integer, let expires = token.claims["exp"]?.integer,
      // Five minutes are forgiven to a clock that runs ahead.
      expires > now, expires - issued <= 3600, expires > issued, issued <= now + 300
    else {
      throw Refusal(
        "invalid_grant",
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
          + "Check your iat and exp values in the JWT claim.")
    }
    let audiences = [
      "https://oauth2.googleapis.com/token", "https://www.googleapis.com/oauth2/v4/token",
      world.endpoints.oauth + "/token",
    ]
    guard let audience = token.claims["aud"]?.string, audiences.contains(audience) else {
      throw Refusal("invalid_grant", "Invalid JWT: Failed audience check. The right audience is \(audiences[0])")
    }
    let scopes = Set((token.claims["scope"]?.string ?? "").split(separator: " "))
    guard !scopes.isEmpty, scopes.allSatisfy({ $0.hasPrefix("https://www.googleapis.com/auth/") }) else {
      throw Refusal("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
    }
    return scopes
  }

  /// The key that the token names; without a name, the current one.
  private func signer(_ token: SignedToken) -> GoogleAccount.Key? {
    world.google.keys[token.header["kid"]?.string ?? world.google.currentKeyID]
  }
}

/// A mark on a connection that was counted already.
final class LaneVisit: Sendable {
  static let shared = LaneVisit()
}
