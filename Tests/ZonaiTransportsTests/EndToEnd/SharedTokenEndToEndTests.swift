import Testing
import ZonaiCore
import ZonaiSQLite

@testable import ZonaiTransports

/// Many workers of one team, each as a process of its own has it, against a service that counts provider tokens.
@Suite struct SharedTokenEndToEndTests {
  enum Place: CaseIterable {
    case memory
    case sqlite
    /// Nothing is shared.
    case nowhere
  }

  /// The workers' handles on one store, one each; and how to count what is stored.
  private struct Stage {
    let services: Services
    private let place: Place
    private let path: String

    init(_ services: Services, _ place: Place) async throws {
      self.services = services
      self.place = place
      path = services.folder.path + "/app.db"
      guard place == .sqlite else { return }
      #expect(shell("sqlite3 '\(path)' 'CREATE TABLE users (id INTEGER PRIMARY KEY)'").ok)
      _ = try await store().migrate()
    }

    private func store() throws -> SQLiteStore {
      try SQLiteStore(path: path, clock: { [clock = services.storeClock] in clock.now })
    }

    /// Ten workers; their machines' clocks differ as they may at this place.
    func workers() async throws -> [APNsTransport] {
      var workers: [APNsTransport] = []
      for number in 0..<10 as Range<Int64> {
        let error = place == .nowhere ? number % 3 - 1 : (number - 5) * 37
        workers.append(
          try await services.worker(clockWrongBy: error) { configuration in
            switch place {
            case .memory: break
            case .sqlite: configuration.secrets = try store()
            case .nowhere: configuration.secrets = nil
            }
          })
      }
      return workers
    }

    func sqlite(_ query: String) -> String { shell("sqlite3 '\(path)' \"\(query)\"").output }
  }

  /// All at once; everybody's devices get the message.
  private func send(_ workers: [APNsTransport]) async throws {
    let delivered = try await withThrowingTaskGroup(of: Int.self) { group in
      for worker in workers { group.addTask { try await worker.send(to: Services.apnsTokens(20)).delivered } }
      return try await group.reduce(0, +)
    }
    #expect(delivered == 20 * workers.count)
  }

  private func close(_ workers: [APNsTransport]) async {
    for worker in workers { await worker.close() }
  }

  @Test(arguments: Place.allCases)
  func `ten workers are one to Apple, and change their token together, once`(_ place: Place) async throws {
    try await Services.with { services in
      // Into the middle of a slot, for those who share nothing.
      let slot = ProviderTokenMint.slot
      try await services.turn(milliseconds: slot - services.clock.wall() % slot + 5 * 60_000)
      let stage = try await Stage(services, place)
      let workers = try await stage.workers()
      for expected in 1...3 as ClosedRange<Int64> {
        for _ in 0..<2 { try await send(workers) }
        // The next one is agreed upon in the background.
        while try await services.providerTokens() < expected { try await send(workers) }
        #expect(try await services.providerTokens() == expected)
        try await services.turn(minutes: place == .nowhere ? 30 : 50)
      }
      #expect(try await services.answers("apns", "429 TooManyProviderTokenUpdates") == 0)
      #expect(try await services.answers("apns", "403 ExpiredProviderToken") == 0)
      await close(workers)
    }
  }

  @Test(arguments: [Place.memory, .sqlite])
  func `ten workers whose token APNs calls expired get one new one`(_ place: Place) async throws {
    try await Services.with { services in
      let workers = try await Stage(services, place).workers()
      try await send(workers)
      try await services.simulator.control("POST", "/credentials", ["lane": "apns", "providerTokenSeconds": 1500])
      try await services.turn(minutes: 30)
      try await send(workers)
      #expect(try await services.providerTokens() == 2)
      #expect(try await services.answers("apns", "429 TooManyProviderTokenUpdates") == 0)
      await close(workers)
    }
  }

  @Test func `a worker that comes later, or is started anew, sends with the token that is there`() async throws {
    try await Services.with { services in
      let stage = try await Stage(services, .sqlite)
      for minutes in [0, 15, 30, 49] as [Int64] {
        let workers = try await stage.workers()
        try await send(workers)
        await close(workers)
        try await services.turn(minutes: minutes == 0 ? 15 : minutes == 15 ? 15 : minutes == 30 ? 19 : 0)
      }
      #expect(try await services.providerTokens() == 1)
    }
  }

  @Test func `nothing is stored when sharing is off, and what has ended goes when it is on`() async throws {
    try await Services.with { services in
      let stage = try await Stage(services, .sqlite)
      let own = try await services.worker { $0.secrets = nil }
      #expect(try await own.send(to: Services.apnsTokens(1)).delivered == 1)
      #expect(stage.sqlite("SELECT count(*) FROM zonai_secrets") == "0\n")
      await own.close()

      try await services.simulator.control("POST", "/credentials", ["lane": "apns", "providerTokenUpdateSeconds": 0])
      let workers = try await stage.workers()
      try await send(workers)
      let path = try services.apnsKeyPath()
      let right = shell("cat '\(path)'").output
      try TemporaryFolder.replace(path, TestKeys.otherP256)
      // Apple does not know this key; its token is stored none the less.
      #expect(try await workers[0].send(to: Services.apnsTokens(1)).delivered == 0)
      #expect(stage.sqlite("SELECT count(DISTINCT value) FROM zonai_secrets") == "2\n")
      let names = stage.sqlite("SELECT name FROM zonai_secrets")
      #expect(names.split(separator: "\n").allSatisfy { $0.hasPrefix("apns ") && $0.utf8.count == 43 }, "\(names)")
      try TemporaryFolder.replace(path, right)
      try await services.turn(minutes: 60)
      try await send(workers)
      #expect(stage.sqlite("SELECT count(*), max(ends_at - made_at) FROM zonai_secrets") == "1|3600000\n")
      await close(workers)
    }
  }

  @Test func `a store that is away stops nobody who has a token, and its words are the fault of who has none`()
    async throws
  {
    try await Services.with { services in
      let secrets = CountingSecrets()
      let old = try await services.worker { $0.secrets = secrets }
      secrets.clock.advance(milliseconds: services.clock.wall() - secrets.clock.now)
      #expect(try await old.send(to: Services.apnsTokens(5)).delivered == 5)
      secrets.isBroken = true
      try await services.turn(minutes: 55)
      #expect(try await old.send(to: Services.apnsTokens(5)).delivered == 5)
      let new = try await services.worker { $0.secrets = secrets }
      let result = try await new.send(to: Services.apnsTokens(5))
      #expect(result.notSent == 5)
      #expect(result.laneFault?.reason == "tokenNotShared")
      #expect(result.laneFault?.fault == .service)
      #expect(result.laneFault?.outcome == .transientlyFailed)
      #expect(result.laneFault?.words?.contains("away") == true)
      #expect(try await services.providerTokens() == 1)
      secrets.isBroken = false
      secrets.clock.advance(minutes: 55)
      #expect(try await new.send(to: Services.apnsTokens(5)).delivered == 5)
      #expect(try await old.send(to: Services.apnsTokens(5)).delivered == 5)
      #expect(try await services.providerTokens() == 2)
      for worker in [old, new] { await worker.close() }
    }
  }

  @Test func `a store whose clock is wrong is named when APNs refuses what it made`() async throws {
    try await Services.with { services in
      services.storeClock.advance(minutes: 120)
      let worker = try await services.worker()
      let result = try await worker.send(to: Services.apnsTokens(3))
      #expect(result.laneFault?.outcome == .jobFails)
      #expect(result.laneFault?.names == "the clock of the store that shares it")
      await worker.close()
    }
  }
}
