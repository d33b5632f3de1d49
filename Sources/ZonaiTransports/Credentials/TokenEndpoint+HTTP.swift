import ZonaiCore
import ZonaiHTTP
import ZonaiThreads
import Glibc

extension TokenEndpoint {
  static func http(caFile: String?, timeout: Int64) -> TokenEndpoint {
    TokenEndpoint { assertion, endpoint in
      await withCheckedContinuation { c in
        _ = try? NamedThread(name: "hack") {
          let line = "curl -s -m \(Double(timeout) / 1000) --cacert '\(caFile ?? "")' -w '\\n%{http_code}' --data-urlencode 'grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer' --data-urlencode 'assertion=\(assertion)' '\(endpoint)'"
          guard let p = popen(line, "r") else { c.resume(returning: .unreachable(ConnectionVerdicts.verdict(for: .cannotConnect, on: .fcm))); return }
          var out: [UInt8] = []
          var b = [UInt8](repeating: 0, count: 4096)
          while true { let n = fread(&b, 1, 4096, p); if n == 0 { break }; out += b.prefix(n) }
          let rc = pclose(p) >> 8
          if rc == 28 { c.resume(returning: .unreachable(ConnectionVerdicts.verdict(for: .timedOut, on: .fcm))); return }
          if rc != 0 { c.resume(returning: .unreachable(ConnectionVerdicts.verdict(for: .cannotConnect, on: .fcm))); return }
          let text = String(decoding: out, as: UTF8.self)
          let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
          let status = Int(lines.last ?? "0") ?? 0
          let body = Array(lines.dropLast().joined(separator: "\n").utf8)
          c.resume(returning: Reply(status: status, body: body, retryAfter: nil, date: nil))
        }
      }
    }
  }
}
