import CZonaiPostgres

/// Where a connection goes and as whom, as sentences name it. It knows the secrets of the address, so that none gets out.
struct PostgresPlace: Sendable, CustomStringConvertible {
  var host: String
  var port: String
  var user: String
  var database: String
  var secrets: [String] = []

  /// `127.0.0.1:5432`, or the folder of a Unix socket.
  var description: String { safe("\(host):\(port)") ?? "its address" }

  /// libpq's words about the connection; nil when it has none, or when they hold a piece of the password.
  func words(_ handle: OpaquePointer?) -> String? { safe(PostgresPlace.allWords(handle)) }

  /// libpq's words, to be read and never to be shown.
  static func allWords(_ handle: OpaquePointer?) -> String {
    guard let handle, let message = PQerrorMessage(handle) else { return "" }
    let lines = String(cString: message).split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") }
    return lines.map { String($0.drop(while: \.isWhitespace)) }.joined(separator: "; ")
  }

  /// The text, unless a secret stands in it: an address that was put together wrongly makes a host of a password's end.
  func safe(_ text: String) -> String? {
    if text.isEmpty { return nil }
    let words = text.split { !$0.isLetter && !$0.isNumber }
    let isTold = secrets.contains { secret in
      // A short one stands within many words by chance.
      secret.utf8.count < 4 ? words.contains(secret[...]) : text.contains(secret)
    }
    return isTold ? nil : text
  }
}
