import CZonaiPostgres
import ZonaiCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A connection string, which goes to libpq as it is: `postgres://user@host/database?sslmode=verify-full` or
/// `host=… dbname=…`. It never shows itself, since it may hold a password.
/// https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
struct PostgresAddress: Sendable, CustomStringConvertible, CustomReflectable {
  /// One of the servers that the string names, in its order.
  struct Host: Sendable, Hashable {
    var name: String
    var address: String
    var port: String
  }

  let text: String
  let hosts: [Host]
  let place: PostgresPlace
  /// How long one server may take to let us in, in milliseconds.
  let timeout: Int64

  static let usualTimeout: Int64 = 10_000

  var description: String { "\(place)" }
  var customMirror: Mirror { Mirror(self, children: ["place": description]) }

  init(_ text: String) throws(StoreError) {
    let given = try PostgresAddress.options(of: text)
    let usual = PostgresAddress.defaults()
    func option(_ name: String) -> String? { given[name] ?? usual[name] }

    self.text = text
    let seconds = option("connect_timeout").flatMap { Int64($0) } ?? 0
    // libpq takes one second for two: a look-up may straddle the tick.
    timeout = seconds > 0 ? max(2, min(seconds, 86_400)) * 1000 : PostgresAddress.usualTimeout
    hosts = PostgresAddress.hosts(option("host"), option("hostaddr"), option("port"))
    let first = hosts.first
    let names = [first?.name, first?.address].compactMap { $0 }
    place = PostgresPlace(
      host: names.first { !$0.isEmpty } ?? "the local socket", port: first?.port ?? "5432",
      user: option("user") ?? "", database: option("dbname") ?? option("user") ?? "",
      secrets: PostgresAddress.secrets(in: text, password: option("password")))
  }

  // MARK: Reading

  /// What the string says, by libpq's own reading.
  private static func options(of text: String) throws(StoreError) -> [String: String] {
    let isURL = text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
    if isURL { try checkUser(in: text) }
    // libpq's words repeat the piece that it did not understand, which may be the password's.
    guard isURL || text.contains("="), !text.utf8.contains(0), let parsed = PQconninfoParse(text, nil) else {
      throw StoreError(
        .invalidRequest,
        "the PostgreSQL address cannot be read: write postgres://user@host:port/database?sslmode=…, with anything odd "
          + "percent-encoded, or host=… dbname=…, with values that hold blanks in single quotes")
    }
    defer { PQconninfoFree(parsed) }
    let options = values(parsed)
    let ports = options["port"] ?? ""
    guard ports.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ",") })
    else { throw mistaken }
    return options
  }

  private static let mistaken = StoreError(
    .invalidRequest,
    "the PostgreSQL address is not what it seems: in a user name or password write %40 for @, %3A for :, %2F for / and "
      + "%25 for %, or keep the password out of it (PGPASSWORD, ~/.pgpass)")

  /// libpq takes what stands before the first @ for the user and password, and a / before it for the end of both.
  private static func checkUser(in url: String) throws(StoreError) {
    guard let slashes = url.range(of: "://") else { throw mistaken }
    let rest = url[slashes.upperBound...]
    var behind = rest
    if let end = rest.firstIndex(where: { $0 == "@" || $0 == "/" }), rest[end] == "@" {
      behind = rest[rest.index(after: end)...]
    }
    let address = behind.prefix { $0 != "?" }
    if address.contains("@") { throw mistaken }
  }

  private static func defaults() -> [String: String] {
    guard let parsed = PQconndefaults() else { return [:] }
    defer { PQconninfoFree(parsed) }
    return values(parsed)
  }

  private static func values(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
    var values: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
      option += 1
    }
    return values
  }

  private static func hosts(_ names: String?, _ addresses: String?, _ ports: String?) -> [Host] {
    func list(_ text: String?) -> [String] {
      text.map { $0.split(separator: ",", omittingEmptySubsequences: false).map { String($0) } } ?? []
    }
    let (names, addresses, ports) = (list(names), list(addresses), list(ports))
    return (0..<max(1, names.count, addresses.count)).map { index in
      // One port is every server's.
      let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
      return Host(
        name: index < names.count ? names[index] : "", address: index < addresses.count ? addresses[index] : "",
        port: port.isEmpty ? "5432" : port)
    }
  }

  /// The password, and the pieces of it as the string writes it.
  private static func secrets(in text: String, password: String?) -> [String] {
    var secrets = [password ?? ""]
    if let slashes = text.range(of: "://"), let at = text.lastIndex(of: "@"), at > slashes.upperBound {
      let user = text[slashes.upperBound..<at]
      if let colon = user.firstIndex(of: ":") { secrets.append(String(user[user.index(after: colon)...])) }
    }
    return secrets.filter { !$0.isEmpty }
  }
}

extension String {
  fileprivate func range(of text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
