import ZonaiCore
import ZonaiHTTP

extension TokenEndpoint {
  static func http(caFile: String?, timeout: Int64) -> TokenEndpoint {
    TokenEndpoint { _, _ in .unreachable(ConnectionVerdicts.verdict(for: .cannotConnect, on: .fcm)) }
  }
}
