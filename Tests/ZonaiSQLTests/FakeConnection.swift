import Synchronization
import ZonaiCore
import ZonaiSQL

/// What fake connections are to do, and what they did, in order: "open 1", "begin 1", "run 1", "commit 1", "rollback 1".
final class FakeDatabase: Sendable {
  enum Slip: Sendable {
    /// The connection is lost.
    case cut
    /// The server chose this transaction as the victim of a dead-lock.
    case victim
    case refused
  }

  private struct State {
    var slips: [String: [Slip]] = [:]
    var refusedOpens: [StoreError] = []
    var log: [String] = []
    var connections = 0
  }

  private let state = Mutex(State())

  /// The next steps of this name ("begin", "run", "commit") go wrong.
  func fail(_ step: String, _ slips: Slip...) { state.withLock { $0.slips[step, default: []] += slips } }

  /// The next connections cannot be made.
  func refuseOpens(_ errors: StoreError...) { state.withLock { $0.refusedOpens += errors } }

  var log: [String] { state.withLock { $0.log } }
  func log(_ line: String) { state.withLock { $0.log.append(line) } }

  func open() throws(StoreError) -> FakeConnection {
    let (number, refusal) = state.withLock { state -> (Int, StoreError?) in
      if !state.refusedOpens.isEmpty {
        state.log.append("refused")
        return (0, state.refusedOpens.removeFirst())
      }
      state.connections += 1
      state.log.append("open \(state.connections)")
      return (state.connections, nil)
    }
    if let refusal { throw refusal }
    return FakeConnection(database: self, number: number)
  }

  fileprivate func step(_ name: String, _ number: Int) -> Slip? {
    state.withLock { state in
      state.log.append("\(name) \(number)")
      guard state.slips[name]?.isEmpty == false else { return nil }
      return state.slips[name]?.removeFirst()
    }
  }
}

final class FakeConnection: PooledConnection {
  private let database: FakeDatabase
  private let number: Int
  private(set) var isBroken = false
  private(set) var wasVictim = false
  private(set) var isInTransaction = false
  private(set) var changes = 0

  init(database: FakeDatabase, number: Int) {
    self.database = database
    self.number = number
  }

  deinit { database.log("close \(number)") }

  private func step(_ name: String) throws(StoreError) {
    switch database.step(name, number) {
    case .cut:
      isBroken = true
      throw StoreError(.unavailable, "the connection was cut")
    case .victim:
      wasVictim = true
      throw StoreError(.busy, "a dead-lock")
    case .refused: throw StoreError(.refused, "a trigger")
    case nil: return
    }
  }

  func begin(_ mode: SQLMode, deadline: Int64) throws(StoreError) {
    wasVictim = false
    try step("begin")
    isInTransaction = true
  }

  func commit() throws(StoreError) {
    try step("commit")
    isInTransaction = false
  }

  func rollback() {
    _ = database.step("rollback", number)
    isInTransaction = false
  }

  func run(_ statement: SQLStatement, _ each: (NoRow) throws(StoreError) -> Void) throws(StoreError) -> Int {
    try step("run")
    if statement.text == "UPDATE" { changes += 1 }
    return 1
  }

  func announceWork() throws(StoreError) {}
  func checkDeferredConstraints() throws(StoreError) {}

  static let read = SQLStatement(text: "SELECT", values: [])
  static let update = SQLStatement(text: "UPDATE", values: [])
}

struct NoRow: SQLRow {
  var columnCount: Int { 0 }
  func isNull(_ column: Int) -> Bool { true }
  func integer(_ column: Int) -> Int64 { 0 }
  func text(_ column: Int) -> String { "" }
  func bytes(_ column: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
  func token(_ column: Int) -> UnsafeRawBufferPointer { bytes(column) }
  func value(_ column: Int) -> Value { .null }
  func keyValue(_ column: Int) throws(StoreError) -> Value { .null }
  func name(_ column: Int) -> String { "" }
}
