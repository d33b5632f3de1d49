import Synchronization
import ZonaiCore
import ZonaiTestKit

/// A database, two lanes and a clock that stands still: everything that an engine needs but no server.
struct World: Sendable {
  static let devices: TableName = "devices"

  let clock: TurnableClock
  let database: MemoryDatabase
  let store: InMemoryStore
  let fcm: ScriptedTransport
  let apns: ScriptedTransport
  let events = Events()

  /// What the engine waits by.
  private let engineClock: any EngineClock

  /// `passes` lets time pass for the engine by itself, for tests in which nothing depends on how much; the store's time
  /// stands still all the same.
  init(streams: Int = 100, passes: Bool = false, otherEnvironment: OtherEnvironment = .none) {
    clock = TurnableClock()
    database = MemoryDatabase(clock: clock)
    store = InMemoryStore(on: database)
    // A clock that stands at 0 never finds a permit lapsed, only revoked.
    let laneClock = passes ? TurnableClock(now: 0) : clock
    fcm = ScriptedTransport(Lane(transport: .fcm, fingerprint: "fcm project"), clock: laneClock, streams: streams)
    apns = ScriptedTransport(
      Lane(transport: .apns, fingerprint: "apns team topic"), clock: laneClock, streams: streams,
      otherEnvironment: otherEnvironment)
    engineClock = passes ? RealTime.clock ?? clock : clock
    database.create(
      TableSketch(
        World.devices,
        columns: [
          ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .text),
          ColumnSketch("platform", .text), ColumnSketch("seen", .timestamp), ColumnSketch("owner", .text),
        ], primaryKey: ["id"]))
  }

  var audience: Audience { Audience(World.devices, token: "token", platform: .column("platform")) }

  /// Adds rows numbered on from `first`, whose tokens are the platform's name and the number.
  func insert(_ platform: String?, _ numbers: ClosedRange<Int>) {
    database.insert(
      numbers.map { number in
        [
          "id": .integer(Int64(number)), "token": .text("\(platform ?? "token")-\(number)"),
          "platform": platform.map { .text($0) } ?? .null, "owner": .text("owner \(number)"),
        ]
      }, into: World.devices)
  }

  func zonai(
    app: AppName = .standard, transports: [any Transport]? = nil, tables: [any DescribedTable] = [],
    store: (any TokenStore & JobStore)? = nil,
    options change: (inout ZonaiOptions) -> Void = { _ in },
    hook: PushRejectionHandler? = nil
  ) throws -> Zonai {
    var options = ZonaiOptions()
    // Half an hour, so that turning the clock costs no lease unless the test is about leases.
    options.leaseSeconds = 1800
    change(&options)
    return try Zonai(
      store: store ?? self.store, app: app, transports: transports ?? [fcm, apns], tables: tables, options: options,
      onPushRejected: hook, observer: { [events] in events.add($0) }, clock: engineClock)
  }

  /// Every token that was sent to, in order, by either lane.
  var sentTokens: [String] { (fcm.sent + apns.sent).map(\.token.text) }

  /// The tokens that the table holds now, by id; nil for a cleared one.
  var tokens: [Int64: String?] {
    var tokens: [Int64: String?] = [:]
    for row in database.rows(of: World.devices) {
      guard case .integer(let id) = row["id"] else { continue }
      if case .text(let token) = row["token"] { tokens[id] = token } else { tokens[id] = .some(nil) }
    }
    return tokens
  }

  func isCleared(_ id: Int64) -> Bool { tokens[id] == .some(nil) }
}

/// What the observer heard, and a way to wait for it.
final class Events: Sendable {
  private struct State {
    var all: [ZonaiEvent] = []
    var waiting: [(count: Int, test: @Sendable (ZonaiEvent) -> Bool, wake: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var all: [ZonaiEvent] { state.withLock { $0.all } }
  var texts: [String] { all.map(\.description) }

  func add(_ event: ZonaiEvent) {
    let woken = state.withLock { state in
      state.all.append(event)
      let all = state.all
      let woken = state.waiting.filter { all.count(where: $0.test) >= $0.count }
      state.waiting.removeAll { all.count(where: $0.test) >= $0.count }
      return woken.map(\.wake)
    }
    for continuation in woken { continuation.resume() }
  }

  /// Returns once so many such events were heard, now or before.
  func wait(_ count: Int = 1, for test: @escaping @Sendable (ZonaiEvent) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.all.count(where: test) >= count { return true }
        state.waiting.append((count, test, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  func count(_ test: (ZonaiEvent) -> Bool) -> Int { all.count(where: test) }
}

extension PushMessage {
  static let hello = PushMessage(title: "Hello", body: "World")
}

/// The monotonic clock, shared by all tests.
enum RealTime {
  static let clock: (any EngineClock)? = try? ThreadClock()
}
