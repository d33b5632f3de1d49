import Synchronization
import Testing
import ZonaiCore
import ZonaiTestKit

struct TableTests {
  struct Device: Sendable, Decodable, Equatable {
    enum Platform: String, Decodable { case android, ios }
    var id: Int
    var owner: String
    var platform: Platform
    var seen: Int64?
  }

  private func world() -> World {
    let world = World()
    world.insert("android", 1...5)
    world.fcm.answer("android-3", with: .dead, times: .max)
    return world
  }

  @Test func `a table whose rows are made by a closure gives its hook that type`() async throws {
    let world = world()
    let heard = Mutex<[String]>([])
    let devices = Table(World.devices, token: "token", platform: .column("platform")) { row in
      guard case .text(let owner) = row["owner"] else { throw HookFailure.unreadableRow("no owner") }
      return owner
    }
    .onPushRejected { device in
      heard.withLock { $0.append("\(device.record): \(device.rejection.reason)") }
      return .keep
    }
    let zonai = try world.zonai(tables: [devices])
    try await zonai.push(.hello, to: devices.audience())
    try await zonai.drain()
    #expect(heard.withLock { $0 } == ["owner 3: UNREGISTERED"])
    #expect(world.tokens[3] == "android-3")
  }

  @Test func `a table whose rows are Decodable gives its hook that type`() async throws {
    let world = world()
    let heard = Mutex<[Device]>([])
    let devices = Table<Device>(World.devices, token: "token", platform: .column("platform"), lastSeen: "seen")
      .onPushRejected { device in
        heard.withLock { $0.append(device.record) }
        return .followPolicy
      }
    let zonai = try world.zonai(tables: [devices])
    try await zonai.push(.hello, to: devices.audience(where: Column("id") < 4))
    try await zonai.drain()
    #expect(heard.withLock { $0 } == [Device(id: 3, owner: "owner 3", platform: .android, seen: nil)])
    #expect(world.fcm.sent.count == 3)
    #expect(world.isCleared(3))
  }

  @Test func `a row that does not fit the type is reported and the policy followed`() async throws {
    struct Wrong: Sendable, Decodable { var owner: Int }
    let world = world()
    let devices = Table<Wrong>(World.devices, token: "token", platform: .column("platform")).onPushRejected { _ in .keep
    }
    let zonai = try world.zonai(tables: [devices])
    let job = try await zonai.push(.hello, to: devices.audience())
    try await zonai.drain()
    #expect(world.isCleared(3))
    #expect(try await zonai.job(job.id)?.counts.hooksFailed == 1)
    #expect(world.events.texts.contains { $0.contains("column owner holds text, which is no Int") })
  }

  @Test func `a table of its own hook is not told to the general one, any other is`() async throws {
    let world = world()
    let heard = Mutex<[String]>([])
    let others = Table<Device>("others", token: "token").onPushRejected { _ in .keep }
    let zonai = try world.zonai(
      tables: [others],
      hook: { rejection in
        heard.withLock { $0.append(rejection.table.name) }
        return .followPolicy
      })
    try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    #expect(heard.withLock { $0 } == ["devices"])
  }

  struct Everything: Decodable, Equatable {
    var flag: Bool
    var small: UInt8
    var real: Double
    var fromWhole: Float
    var bytes: [UInt8]
    var value: Value
    var missing: String?
  }

  @Test func `every kind of value becomes the type that can hold it`() throws {
    let row = Row(
      columns: ["flag", "small", "real", "fromWhole", "bytes", "value"],
      values: [1, 255, 1.5, 2, .bytes([1, 2]), .text("as it is")])
    let table = Table<Everything>(World.devices, token: "token")
    let made = try table.record(of: row)
    #expect(
      made
        == Everything(
          flag: true, small: 255, real: 1.5, fromWhole: 2, bytes: [1, 2], value: .text("as it is"), missing: nil))
  }

  @Test(arguments: [
    ("flag", Value.integer(2)), ("small", .integer(256)), ("small", .text("7")), ("real", .null),
    ("bytes", .integer(1)),
  ])
  func `a value that does not fit is refused by its column's name and never shown`(_ column: String, _ value: Value) {
    let good: [String: Value] = [
      "flag": 1, "small": 1, "real": 1.5, "fromWhole": 2, "bytes": .bytes([]), "value": 0,
    ]
    let columns = good.keys.sorted()
    let row = Row(columns: columns, values: columns.map { $0 == column ? value : good[$0] ?? .null })
    #expect(throws: (any Error).self) { try Table<Everything>(World.devices, token: "token").record(of: row) }
  }

  @Test func `no description of a rejection or a row shows the token`() async throws {
    let world = world()
    let texts = Mutex<[String]>([])
    let zonai = try world.zonai(hook: { rejection in
      var dumped = ""
      dump(rejection, to: &dumped)
      dump(rejection.row, to: &dumped)
      texts.withLock { $0 += ["\(rejection)", "\(rejection.row)", String(reflecting: rejection), dumped] }
      return .followPolicy
    })
    try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    #expect(texts.withLock { $0.count } == 4)
    #expect(!texts.withLock { $0 }.contains { $0.contains("android-3") })
    #expect(!world.events.texts.contains { $0.contains("android-3") })
  }

  @Test(arguments: [
    (described: [TableName("devices")], job: TableName("devices", schema: "main"), asked: "devices"),
    (described: ["devices", TableName("devices", schema: "main")], job: "devices", asked: "devices"),
    (
      described: ["devices", TableName("devices", schema: "main")], job: TableName("devices", schema: "main"),
      asked: "main.devices"
    ),
    (described: [TableName("devices", schema: "other")], job: TableName("devices", schema: "main"), asked: "general"),
  ])
  func `a table's own hook is found whatever schema the job names`(
    _ described: [TableName], _ job: TableName, _ asked: String
  ) async throws {
    let world = World()
    if job != World.devices {
      world.database.create(
        TableSketch(
          job,
          columns: [
            ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .text),
            ColumnSketch("platform", .text), ColumnSketch("owner", .text),
          ], primaryKey: ["id"]))
    }
    world.database.insert([["id": 1, "token": "android-1", "platform": "android", "owner": "somebody"]], into: job)
    world.fcm.answer("android-1", with: .dead)
    let heard = Mutex<[String]>([])
    let tables = described.map { name in
      Table<Device>(name, token: "token").onPushRejected { _ in
        heard.withLock { $0.append(name.description) }
        return .keep
      }
    }
    let zonai = try world.zonai(
      tables: tables,
      hook: { _ in
        heard.withLock { $0.append("general") }
        return .keep
      })
    try await zonai.push(.hello, to: Audience(job, token: "token", platform: .column("platform")))
    try await zonai.drain()
    #expect(heard.withLock { $0 } == [asked])
  }
}
