import ZonaiCore
import ZonaiJSON

extension TokenEndpoint.Reply {
  /// How long a token is taken to live when the endpoint does not say: Google's always do.
  private static let unsaidSeconds: Int64 = 300

  /// Reads an answer of the token endpoint.
  init(status: Int, body: some Collection<UInt8>, retryAfter: String?, date: String?) {
    let parsed = body.isEmpty ? nil : try? JSON(parsing: body)
    if status == 200, let token = parsed?["access_token"]?.string, TokenEndpoint.Reply.isSendable(token) {
      let seconds = parsed?["expires_in"]?.integer ?? TokenEndpoint.Reply.unsaidSeconds
      // A day at most, whatever it says: the product must not overflow.
      self = .granted(token: token, seconds: min(max(seconds, 1), 86_400))
      return
    }
    var answer = GoogleTokenAnswer(
      status: status, body: body.isEmpty ? .empty : .other, retryAfter: retryAfter, date: date)
    if let error = parsed?["error"]?.string {
      answer.body = .service
      answer.error = error
      answer.errorDescription = parsed?["error_description"]?.string
    }
    self = .refused(answer)
  }

  /// Whether the token can stand in a header field.
  private static func isSendable(_ token: String) -> Bool {
    !token.isEmpty && token.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }
}
