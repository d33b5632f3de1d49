#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The database servers that every test may use. `Scripts/test` starts them and names them in the environment; whoever
/// sets these variables first has the tests use a server of their own, in which databases and roles are then made.
public enum TestServers {
  /// A superuser's URL, as libpq takes it; nil when there is no server.
  public static let postgres = variable("ZONAI_TEST_POSTGRES_URL")
  /// The URL of a user with all rights; nil when there is no server.
  public static let mysql = variable("ZONAI_TEST_MYSQL_URL")

  public static let noPostgres = "needs PostgreSQL: run Scripts/test, or set ZONAI_TEST_POSTGRES_URL"
  public static let noMySQL = "needs MariaDB or MySQL: run Scripts/test, or set ZONAI_TEST_MYSQL_URL"

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
    return value
  }
}
