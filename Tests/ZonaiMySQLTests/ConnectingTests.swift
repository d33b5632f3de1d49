import Testing
import ZonaiCore
import ZonaiMySQL
import ZonaiTestServers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What cannot be connected to, in one sentence each, and never with a password in it.
@Suite(.enabled(if: TestServers.mysql != nil, "\(TestServers.noMySQL)"), .timeLimit(.minutes(15)))
struct ConnectingTests {
  private func failure(_ url: String, options: MySQLOptions = MySQLOptions()) async throws -> StoreError {
    let store = try MySQLStore(url: url, options: options)
    let error = await #expect(throws: StoreError.self) { _ = try await store.jobs(.list(limit: 1, states: nil)) }
    await store.close()
    let found = try #require(error)
    #expect(!"\(found) \(String(reflecting: found))".contains("hush"))
    return found
  }

  private func works(_ url: String) async throws {
    let store = try MySQLStore(url: url)
    _ = try await store.describe("t")
    await store.close()
  }

  @Test func `a wrong password names the user and no password`() async throws {
    let server = try ServerURL.shared()
    let error = try await failure(server.url(database: "zonai_test", password: "hush-hush"))
    #expect(error.code == .denied)
    #expect(error.sentence.contains("refuses the user \(server.user)"), "\(error)")
  }

  @Test func `a missing database is named`() async throws {
    let error = try await failure(try ServerURL.shared().url(database: "no_such_shop"))
    #expect(error.code == .notFound)
    #expect(error.sentence.contains("no database no_such_shop"), "\(error)")
  }

  @Test func `a URL without a database says where it is named`() async throws {
    let server = try ServerURL.shared()
    let error = try await failure("mysql://\(server.user):\(server.password)@\(server.host):\(server.port)")
    #expect(error.code == .notFound)
    #expect(error.sentence.contains("mysql://host/database"), "\(error)")
  }

  @Test func `a database that the user may not use names the GRANT`() async throws {
    let database = try await ScratchDatabase()
    let name = "outsider_\(database.name.suffix(10))"
    try await database.application.run("CREATE USER \(name)@'127.0.0.1' IDENTIFIED BY 'hush'")
    let error = try await failure(database.server.url(database: database.name, user: name, password: "hush"))
    #expect(error.code == .denied)
    #expect(error.sentence.contains("GRANT ALL ON `\(database.name)`.*"), "\(error)")
    try await database.application.run("DROP USER \(name)@'127.0.0.1'")
  }

  @Test(arguments: [
    ("mysql://anna:hush@127.0.0.1:1/shop", "cannot reach the server at 127.0.0.1:1"),
    ("mysql://anna:hush@no-such-host.invalid/shop", "the host of the server at no-such-host.invalid cannot be found"),
    ("mysql://anna:hush@/shop?socket=/no/such/socket", "cannot reach the server at /no/such/socket"),
    ("mysql://anna:hush@localhost:1/shop", "cannot reach the server at localhost:1"),
  ])
  func `a server that is not there is named`(_ url: String, _ words: String) async throws {
    let error = try await failure(url)
    #expect(error.code == .unavailable)
    #expect(error.sentence.contains(words), "\(error)")
  }

  @Test func `a server that says nothing is given up`() async throws {
    let silent = try SilentServer()
    var options = MySQLOptions()
    options.limits.reading = 1500
    let error = try await failure("mysql://anna:hush@127.0.0.1:\(silent.port)/shop", options: options)
    #expect(error.code == .unavailable, "\(error)")
  }

  @Test func `files that cannot be read are named`() async throws {
    for (option, words) in [
      ("option-file=/no/such.cnf", "option file /no/such.cnf"), ("ssl-ca=/no/ca.pem", "TLS file /no/ca.pem"),
    ] {
      let error = try await failure("mysql://anna:hush@127.0.0.1/shop?\(option)")
      #expect(error.code == .denied)
      #expect(error.sentence.contains(words), "\(error)")
    }
  }

  @Test func `a password may come from the environment or an option file, not the URL`() async throws {
    let database = try await ScratchDatabase()
    try await database.application.run("CREATE TABLE t (id INT PRIMARY KEY)")
    let server = database.server
    let file = try OptionFile("[client]\nuser=\(server.user)\npassword=\(server.password)\nport=\(server.port)\n")
    try await works("mysql://\(server.host)/\(database.name)?option-file=\(file.path)")
    let other = try OptionFile("[client]\npassword=wrong\n[zonai]\npassword=\(server.password)\n")
    let without = "mysql://\(server.user)@\(server.host):\(server.port)/\(database.name)"
    try await works(without + "?option-file=" + other.path)
    // What the URL says wins.
    let wrong = try OptionFile("[client]\nuser=nobody\npassword=hush\nport=1\nhost=nowhere.invalid\ndatabase=no_such\n")
    try await works(database.url + "?option-file=" + wrong.path)
    // Every other test brings its password along.
    setenv("MYSQL_PWD", server.password, 1)
    try await works(without)
    unsetenv("MYSQL_PWD")
  }
}

/// Takes connections, and never says a word on them.
final class SilentServer: Sendable {
  let port: UInt16
  private let descriptor: Int32

  init() throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = descriptor
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, address, &size) == 0
      }
    }
    guard descriptor >= 0, bound else { throw TestFailure("cannot listen") }
    port = UInt16(bigEndian: address.sin_port)
  }

  deinit { close(descriptor) }
}
