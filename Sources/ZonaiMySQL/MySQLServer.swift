import ZonaiCore

/// Which server answers, read from what it calls itself.
struct MySQLServer: Sendable, Hashable {
  var isMariaDB: Bool
  var version: [Int]

  /// "8.0.36", "8.4.0-commercial", "10.11.6-MariaDB-log"; Oracle's client sees a MariaDB as "5.5.5-10.11.6-MariaDB".
  init(words: String) {
    isMariaDB = words.contains("MariaDB")
    var rest = words[...]
    if isMariaDB, rest.hasPrefix("5.5.5-") { rest = rest.dropFirst(6) }
    version = rest.prefix { $0.isNumber || $0 == "." }.split(separator: ".").compactMap { Int($0) }
  }

  var name: String {
    (isMariaDB ? "MariaDB " : "MySQL ") + version.map(String.init).joined(separator: ".")
  }

  /// Older ones lack JSON_TABLE or SKIP LOCKED.
  func requireKnown(at address: MySQLAddress) throws(StoreError) {
    let oldest = isMariaDB ? [10, 6] : [8, 0]
    guard version.lexicographicallyPrecedes(oldest) else { return }
    throw StoreError(
      .failed,
      "\(address.server) is \(name), and Zonai wants MySQL 8.0 or MariaDB 10.6 at least: upgrade it")
  }
}
