import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiTestServers
import ZonaiThreads

@testable import ZonaiPostgres

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What needs a server that may be stopped, or one that is set up in a way of its own.
@Suite(.timeLimit(.minutes(10))) struct ServerTests {
  @Test func `a private server keeps its address when it is started again`() async throws {
    let server = try await PrivateServer(.postgres)
    let url = server.url
    #expect(url.hasPrefix("postgres://"))
    try await server.kill()
    try await server.start()
    #expect(server.url == url)
  }

  private func table(_ server: PrivateServer, rows: Int) async throws -> PostgresStore {
    let application = try Application(server.url)
    try await application.runAll([
      PostgresScene.devices,
      "INSERT INTO devices SELECT i, 'token-' || i, 'android' FROM generate_series(1, \(rows)) AS i",
    ])
    var options = PostgresOptions()
    // However slow the machine is.
    options.retries.reconnecting = 120_000
    options.limits.writing = 120_000
    let store = try PostgresStore(url: server.url, options: options)
    _ = try await store.migrate()
    return store
  }

  private static let request = EnqueueRequest(definition: .news(Audience("devices", token: "token")))

  // MARK: Restarts

  @Test(arguments: [false, true])
  func `a restart in the middle of the work passes unnoticed`(_ isCrash: Bool) async throws {
    let server = try await PrivateServer(.postgres)
    let store = try await table(server, rows: 300)
    let job = try await store.enqueue(ServerTests.request).job.id
    var delivered: [String] = []
    async let restart: Void = {
      if isCrash { try await server.kill() } else { try await server.stop() }
      try await server.start()
    }()
    for _ in 0..<300 {
      let claimed: ClaimResult
      do throws(StoreError) {
        claimed = try await store.claim(.from("anna", size: 1))
      } catch {
        guard error.mayBeCommitted else { throw error }
        // If it was, nobody knows of the batch, and its lease runs out.
        continue
      }
      guard case .batch(let batch) = claimed else { break }
      delivered += batch.tokens
      do throws(StoreError) {
        _ = try await store.settle(.answers(batch.delivered()))
      } catch {
        guard error.mayBeCommitted else { throw error }
        // As the engine does: a second time counts once.
        _ = try await store.settle(.answers(batch.delivered()))
      }
    }
    try await restart
    guard case .job(let found?) = try await store.jobs(.one(job)) else { throw TestFailure("no job") }
    #expect(Set(delivered).count == delivered.count)
    #expect(found.counts.delivered == delivered.count)
    await store.close()
  }

  @Test func `a driver knows since when the database is back`() async throws {
    let server = try await PrivateServer(.postgres)
    var options = PostgresOptions()
    options.retries.reconnecting = 120_000
    let driver = try PostgresDriver(address: server.url, options: options)
    #expect(driver.connectedAt == nil)
    func ask() async throws {
      try await driver.transaction(.read, deadline: MonotonicClock.milliseconds() + 120_000) {
        connection throws(StoreError) in
        _ = try connection.run(SQLStatement(text: "SELECT 1", values: []))
      }
    }
    try await ask()
    let first = try #require(driver.connectedAt)
    try await ask()
    #expect(driver.connectedAt == first)
    let before = MonotonicClock.milliseconds()
    try await server.stop()
    try await server.start()
    try await ask()
    let second = try #require(driver.connectedAt)
    // A restart takes longer than a second, which is the shortest absence that counts; a quicker one is none.
    #expect(second >= before || MonotonicClock.milliseconds() - before < 1500)
    await driver.close()
  }

  @Test func `a server that stays away is said to be away`() async throws {
    let server = try await PrivateServer(.postgres)
    let application = try Application(server.url)
    try await application.run(PostgresScene.devices)
    var options = PostgresOptions()
    options.retries.reconnecting = 300
    let store = try PostgresStore(url: server.url, options: options)
    _ = try await store.migrate()
    try await server.stop()
    let error = await failure { _ = try await store.jobs(.list(limit: 1, states: nil)) }
    #expect(error?.code == .unavailable)
    try await server.start()
    _ = try await store.jobs(.list(limit: 1, states: nil))
    await store.close()
  }

  // MARK: Limits

  @Test func `a server without a connection left says so, and gives one when there is`() async throws {
    let server = try await PrivateServer(
      .postgres, options: ["-c max_connections=6", "-c superuser_reserved_connections=1"])
    let administrator = try Application(server.url)
    try await administrator.runAll([
      "CREATE ROLE app LOGIN PASSWORD 'hunter22'", "GRANT CREATE, USAGE ON SCHEMA public TO app",
    ])
    let url = try ServerAddress(server.url).url(user: "app", password: "hunter22")
    var holders: [Application] = []
    for _ in 0..<4 { holders.append(try Application(url)) }
    let store = try PostgresStore(url: url)
    let error = await failure { _ = try await store.migrate() }
    #expect(error?.code == .unavailable)
    #expect(error?.sentence.contains("max_connections") == true)
    #expect(error.map { "\($0)".contains("hunter22") } == false)
    holders.removeAll()
    // Their backends end a moment after the sockets.
    while try await administrator.run("SELECT 1 FROM pg_stat_activity WHERE usename = 'app'").isEmpty == false {
      await Task.yield()
    }
    _ = try await store.migrate()
    await store.close()
  }

  // MARK: Encryption

  @Test func `encryption is had as the address asks for it, or refused in a sentence`() async throws {
    let server = try await PrivateServer(.postgres)
    let address = try ServerAddress(server.url)
    func answer(_ url: String) async throws -> StoreError? {
      let store = try PostgresStore(url: url)
      let error = await failure { _ = try await store.migrate() }
      await store.close()
      return error
    }
    let certificate = server.folder + "/tls/server.crt"
    #expect(try await answer(address.url("sslmode=verify-full&sslrootcert=\(certificate)")) == nil)
    #expect(try await answer(address.url("sslmode=require")) == nil)
    let other = try TemporaryFolder()
    try other.write(ServerTests.anotherCertificate, to: "ca.crt", mode: 0o600)
    let mistakes = [
      address.url("sslmode=verify-full&sslrootcert=\(other.path("ca.crt"))"),
      address.url("sslmode=verify-ca&sslrootcert=\(other.path("ca.crt"))"),
      address.url("sslmode=verify-full&sslrootcert=\(server.folder)/nothing.crt"),
      address.url(host: "db.example", "hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert=\(certificate)"),
    ]
    for mistake in mistakes {
      let error = try await answer(mistake)
      #expect(error?.code == .denied, "\(error.map { "\($0)" } ?? "connected")")
      #expect(error?.sentence.contains("sslmode, sslrootcert and the host's name") == true)
    }
    // Over the server's own socket nothing is encrypted, and local users are trusted.
    #expect(try await answer("host=\(server.folder) port=\(address.port) user=zonai dbname=zonai_test") == nil)
    let folder = server.folder.split(separator: "/").joined(separator: "%2F")
    #expect(try await answer("postgres://zonai@%2F\(folder):\(address.port)/zonai_test") == nil)

    try await server.stop()
    let plain = try await PrivateServer(.postgres, options: ["-c ssl=off"])
    let error = try await answer(try ServerAddress(plain.url).url("sslmode=require"))
    #expect(error?.code == .denied)
    #expect(error?.databaseWords?.contains("does not support SSL") == true)
  }

  /// Of somebody who has nothing to do with these servers, and whose key was thrown away.
  private static let anotherCertificate = """
    -----BEGIN CERTIFICATE-----
    MIIBiTCCAS+gAwIBAgIUJi9LJwkKRY7r8Zd38UeXh3IvX+4wCgYIKoZIzj0EAwIw
    GTEXMBUGA1UEAwwObm9ib2R5LmV4YW1wbGUwIBcNMjYxMTMwMTE0MDAwWhgPMjEy
    NjExMDYxMTQwMDBaMBkxFzAVBgNVBAMMDm5vYm9keS5leGFtcGxlMFkwEwYHKoZI
    zj0CAQYIKoZIzj0DAQcDQgAEVNMpDicRLUZnWyg+cvTEkD9+2KZQ+GaXvDAecuhs
    2X5FyS+qrSCOlgwCGck/TaY+Y3idlWD8kLsOnzMllyZUYKNTMFEwHQYDVR0OBBYE
    FDlX7nEodZQGAyrMtqOZ/XaSTwG6MB8GA1UdIwQYMBaAFDlX7nEodZQGAyrMtqOZ
    /XaSTwG6MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgbyW8Zb5P
    mJqINnZnKaRze66KljLwQc0jNF0e9v1n+6UCIQDD9Qz408TK7XDymvdCGXwacTTb
    74xYl2RAQnNWAZuTeA==
    -----END CERTIFICATE-----
    """
}
