import CZonaiSQLite
import Testing
import ZonaiCore
import ZonaiSQL
import ZonaiSQLite
import ZonaiTestKit

/// Pushes that the application runs as statements of its own.
@Suite(.timeLimit(.minutes(2))) struct EnqueueStatementTests {
  let scene: SQLiteScene
  let store: SQLiteStore
  let zonai: Zonai
  private let connection: Connection

  /// The application's connection, as a driver of its own would hold it.
  ///
  /// @unchecked: each test uses it from its own task alone.
  private final class Connection: @unchecked Sendable {
    let handle: OpaquePointer

    init(_ path: String) throws {
      var opened: OpaquePointer?
      guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else { throw TestFailure("cannot open \(path)") }
      handle = opened
    }

    deinit { sqlite3_close_v2(handle) }

    func run(_ text: String) { #expect(sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK) }
  }

  init() async throws {
    scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(2)
    store = try SQLiteStore(path: scene.fixture.path)
    zonai = try Zonai(
      store: store,
      transports: [ScriptedTransport(Lane(transport: .fcm, fingerprint: "fcm"), clock: TurnableClock(now: 0))])
    connection = try Connection(scene.fixture.path)
  }

  private let devices = Audience("devices", token: "token")

  private func statement(
    _ message: PushMessage = PushMessage(title: "news"), key: String? = nil
  ) throws -> EnqueueStatement {
    try zonai.enqueueStatement(message, to: devices, for: .sqlite, idempotencyKey: key, attribution: ["by": "test"])
  }

  @Test func `a push lives and dies with the application's transaction`() async throws {
    connection.run("BEGIN; UPDATE devices SET platform = 'ios' WHERE id = 1")
    try statement().run(onSQLite: connection.handle)
    connection.run("ROLLBACK")
    #expect(try await zonai.jobs().isEmpty)
    connection.run("BEGIN; UPDATE devices SET platform = 'ios' WHERE id = 1")
    let id = try statement().run(onSQLite: connection.handle)
    #expect(try await zonai.jobs().isEmpty)
    connection.run("COMMIT")
    let job = try await zonai.run(only: id)
    #expect(job.state == .completed)
    #expect(job.counts.delivered == 2)
    #expect(job.definition.attribution == ["by": "test"])
  }

  @Test func `a statement records what a push records`() async throws {
    let pushed = try await zonai.push(PushMessage(title: "news", data: ["a": "1"]), to: devices, policy: .deleteRow)
    let stated = try zonai.enqueueStatement(
      PushMessage(title: "news", data: ["a": "1"]), to: devices, for: .sqlite, policy: .deleteRow
    ).run(onSQLite: connection.handle)
    guard case .batch(let first) = try await store.claim(.from("anna")) else { throw TestFailure("no batch") }
    guard case .batch(let second) = try await store.claim(.from("anna")) else { throw TestFailure("no batch") }
    #expect(Set([first.job.id, second.job.id]) == [pushed.id, stated])
    #expect(first.job.definition == second.job.definition)
  }

  @Test func `one key is one job, by statement or by push, and refused with another content`() async throws {
    let id = try statement(key: "monday").run(onSQLite: connection.handle)
    #expect(try statement(key: "monday").run(onSQLite: connection.handle) == id)
    #expect(
      try await zonai.push(
        PushMessage(title: "news"), to: devices, idempotencyKey: "monday", attribution: ["by": "test"]
      ).id == id)
    let error = #expect(throws: StoreError.self) {
      try statement(PushMessage(title: "other"), key: "monday").run(onSQLite: connection.handle)
    }
    #expect(error?.code == .idempotencyClash)
    #expect(error?.sentence.contains("use another key for another push") == true)
  }

  @Test func `what needs no database is refused before there is a statement`() throws {
    #expect(throws: MessageFault.self) { try statement(PushMessage(title: "x", data: ["from": "me"])) }
    #expect(throws: MessageFault.self) { try statement(PushMessage(body: String(repeating: "x", count: 5000))) }
    #expect(throws: ZonaiError.self) {
      try zonai.enqueueStatement(
        PushMessage(title: "x"), to: Audience("t", token: "c", platform: .fixed(Platform("ios"))), for: .sqlite,
        routes: Routes(apple: nil, android: .fcm, unknown: .fcm))
    }
    for wrong in [{ try statement(key: "") }, { try statement(PushMessage(title: "", body: "x")) }] {
      let error = #expect(throws: StoreError.self) { try wrong() }
      #expect(error?.code == .invalidRequest)
    }
  }

  @Test func `each database has its own words`() throws {
    func made(_ database: EnqueueStatement.Database) throws -> EnqueueStatement {
      try zonai.enqueueStatement(PushMessage(title: "x"), to: devices, for: database, idempotencyKey: "k")
    }
    let (sqlite, postgres, mysql) = (try made(.sqlite), try made(.postgres), try made(.mysql))
    #expect(postgres.text == "SELECT zonai_push($1::jsonb, $2)")
    #expect(mysql.text == "CALL zonai_push(?, ?, @zonai_job)")
    #expect(postgres.values == mysql.values && postgres.values.last == "k")
    #expect(sqlite.values.dropFirst() == postgres.values[...])
    #expect(postgres.idQuery == nil)
    #expect(mysql.idQuery?.text == "SELECT @zonai_job")
    let error = #expect(throws: StoreError.self) { try mysql.run(onSQLite: connection.handle) }
    #expect(error?.code == .invalidRequest)
  }

  @Test func `a file without Zonai's tables is a sentence`() throws {
    let empty = try Connection(":memory:")
    let error = #expect(throws: StoreError.self) { try statement().run(onSQLite: empty.handle) }
    #expect(error?.databaseWords?.contains("no such table: zonai_jobs") == true)
  }
}
