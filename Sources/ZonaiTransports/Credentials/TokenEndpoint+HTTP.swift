import ZonaiCore
import ZonaiHTTP

extension TokenEndpoint {
  /// The endpoint as it is reached over the network. The timeout is in milliseconds.
  static func http(caFile: String?, timeout: Int64) -> TokenEndpoint {
    TokenEndpoint { assertion, endpoint in
      // Only letters, digits, dots, dashes and underscores are in an assertion, so nothing is to be encoded.
      let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
      var request = HTTPRequest(
        "POST", endpoint.description, fields: [HTTPField("content-type", "application/x-www-form-urlencoded")],
        body: Array(form.utf8), caFile: caFile)
      request.timeout = timeout
      do throws(HTTPFailure) {
        let response = try await request.fetch()
        return Reply(
          status: response.status, body: response.body, retryAfter: response["retry-after"], date: response["date"])
      } catch {
        var verdict = error.verdict(on: .fcm)
        verdict.names = verdict.names?.replacing("FCM endpoint", with: "OAuth endpoint")
        return .unreachable(verdict)
      }
    }
  }
}
