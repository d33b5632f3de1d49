import ZonaiCore
import ZonaiMySQL
import ZonaiPostgres
import ZonaiSQLite

/// A store's URL, of a kind that is known.
///
/// Only `shown` may be shown: the URL itself may hold a password.
struct StoreAddress: Sendable {
  private enum Kind { case sqlite, postgres, mysql }

  private let kind: Kind
  private let url: String
  /// The URL without its password.
  let shown: String
  /// Whether the URL holds a password.
  let hasPassword: Bool
  /// Whether it stood in the environment, where a suggested command finds it again.
  var isFromEnvironment = false

  static let forms = "sqlite:FILE, postgres://USER@HOST/DATABASE or mysql://USER@HOST/DATABASE"

  init(_ text: String) throws(ArgumentProblem) {
    kind = try StoreAddress.kind(of: text)
    url = text
    shown = HiddenPassword.hiding(in: text)
    hasPassword = shown != text
  }

  private static func kind(of text: String) throws(ArgumentProblem) -> Kind {
    if isList(text) { return .postgres }
    guard let colon = text.firstIndex(of: ":") else {
      // What is not understood may hold a password: a word without a = is none.
      let found = text.contains("=") ? "something else" : "'\(text)'"
      throw ArgumentProblem("wants a URL, not \(found); write \(forms), for example sqlite:app.db")
    }
    switch text[..<colon].lowercased() {
    case "sqlite": return .sqlite
    case "postgres", "postgresql": return .postgres
    case "mysql", "mariadb": return .mysql
    case let scheme:
      let isWord =
        !scheme.isEmpty && scheme.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) }
      throw ArgumentProblem(
        "names a store of \(isWord ? "the kind '\(scheme)'," : "a kind") which is not known; write \(forms)")
    }
  }

  /// Whether it is a list of libpq's settings, "host=db dbname=shop", which no URL begins like.
  private static func isList(_ text: String) -> Bool {
    let first = text.drop { $0 == " " }.prefix { $0 != "=" && $0 != " " && $0 != ":" }
    let behind = text.drop { $0 == " " }.dropFirst(first.count).drop { $0 == " " }
    return behind.first == "=" && libpqSettings.contains(String(first))
  }

  /// https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS
  private static let libpqSettings: Set<String> = [
    "host", "hostaddr", "port", "dbname", "user", "password", "passfile", "service", "options", "application_name",
    "connect_timeout", "client_encoding", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslcrl",
    "ssl_min_protocol_version", "channel_binding", "gssencmode", "keepalives", "target_session_attrs", "requirepeer",
  ]

  /// Opens it; `console` hears of a password that everybody on this machine could read.
  func open(_ console: Console) throws(StoreError) -> any Store {
    if hasPassword, !isFromEnvironment {
      console.note(
        "warning: a password on the command line can be read by everybody on this machine; put the URL into "
          + "\(StoreOptions.variable) instead, or the password alone into \(passwordPlaces)")
    }
    switch kind {
    case .sqlite: return try SQLiteStore(url: url)
    case .postgres: return try PostgresStore(url: url)
    case .mysql: return try MySQLStore(url: url)
    }
  }

  private var passwordPlaces: String { kind == .mysql ? "MYSQL_PWD or ~/.my.cnf" : "PGPASSWORD or ~/.pgpass" }

  /// How a command that is suggested names the same store.
  var repeated: [String] { isFromEnvironment ? [] : ["--store", shown] }
}
