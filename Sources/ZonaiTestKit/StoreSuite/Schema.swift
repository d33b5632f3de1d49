import ZonaiCore

extension TokenStoreConformance {
  /// Zonai's own tables, and the look at the application's.
  static var schema: [Check<Fixture>] {
    [
      check("a store that was not migrated says so, whatever it is asked", law: "section 7, migrate", isMigrated: false)
      {
        scene in
        let store = scene.store
        try await scene.fixture.create(.devices)
        let request = scene.request()
        let worker = WorkerID(rawValue: "anna")
        try await expectRefusal(.notMigrated, "an enqueue") { _ = try await store.enqueue(request) }
        try await expectRefusal(.notMigrated, "a claim") {
          _ = try await store.claim(ClaimRequest(worker: worker, transports: [.fcm]))
        }
        try await expectRefusal(.notMigrated, "a listing") {
          _ = try await store.jobs(.list(limit: 1, states: nil))
        }
      },
      check("migrating makes the tables, and again changes nothing", law: "section 7, migrate", isMigrated: false) {
        scene in
        let store = scene.store
        let first = try await store.migrate()
        try expect(first.from, is: 0, "the version before the first migration")
        try expect(first.to > 0, "a version after it", found: "\(first.to)")
        try await scene.makeDevices(0)
        let job = try await scene.enqueue()
        let again = try await store.migrate()
        // It may say again what the database cannot make.
        try expect([again.from, again.to], is: [first.to, first.to], "the versions of the second migration")
        try expect(try await scene.job(job).state, is: .pending, "the state of a job from before it")
      },
      check("of stores that migrate at once one makes the tables", law: "section 7, migrate", isMigrated: false) {
        scene in
        let stores = try await scene.open(3) + [scene.store]
        let migrations = try await together(stores) { store, _ in try await store.migrate() }
        try expect(migrations.count { $0.from == 0 }, is: 1, "migrations that began with nothing")
        try expect(Set(migrations.map(\.to)).count, is: 1, "versions that they ended in")
        try await scene.makeDevices(1)
        try await scene.enqueue()
        try expect(try await scene.claim().ids, is: [1], "the ids of a batch after it")
      },
      check("tables that a newer build made are refused", law: "section 7, migrate") { scene in
        try await scene.makeDevices(1)
        try await scene.enqueue()
        try await scene.fixture.pretendNewerSchema(by: 1)
        let store = try await scene.open()
        try await expectRefusal(.schemaVersion, "a claim") { _ = try await scene.claimOnce(on: store) }
        try await expectRefusal(.schemaVersion, "a claim by a worker from before") { _ = try await scene.claimOnce() }
        try await expectRefusal(.schemaVersion, "an enqueue") { _ = try await store.enqueue(scene.request()) }
        try await expectRefusal(.schemaVersion, "a migration") { _ = try await store.migrate() }
      },
      check("a table is described as the application made it", law: "section 6, describe") { scene in
        try await makeReferenced(scene)
        try await scene.fixture.create(
          TableSketch(
            "members",
            columns: [
              ColumnSketch("club", .text, isNullable: false), ColumnSketch("number", .integer, isNullable: false),
              ColumnSketch("mail", .text, isNullable: false),
              ColumnSketch("nick", .caseInsensitiveText, isNullable: false),
              ColumnSketch("token", .text),
            ], primaryKey: ["number", "club"], uniqueKeys: [["mail"], ["nick"]]))
        let members = try await scene.store.describe("members")
        try expect(
          members.columns.map(\.name), is: ["club", "number", "mail", "nick", "token"], "the columns in order")
        try expect(
          members.columns.map(\.isNullable), is: [false, false, false, false, true], "which columns may be NULL")
        try expect(members.primaryKey, is: ["number", "club"], "the primary key, in its order")
        try expect(Set(members.uniqueKeys), is: [["mail"], ["nick"]], "the unique keys")
        try expect(members.column("mail")?.orderProblem, is: nil, "the trouble with ordering by mail")
        try expect(
          members.column("nick")?.orderProblem != nil,
          is: !scene.fixture.capabilities.keyKinds.contains(.caseInsensitiveText),
          "some trouble with ordering by a name that ignores case, where such keys are not taken")
        let devices = try await scene.store.describe("devices")
        try expect(devices.referencedBy, is: ["orders.device"], "who references the table")
        try await expectRefusal(.noSuchTable, "describing a table that is not there") {
          _ = try await scene.store.describe("nowhere")
        }
      },
    ]
  }

  /// What workers share beside jobs.
  static var secrets: [Check<Fixture>] {
    [
      check("the first secret that is offered stays until it is too old", law: "section 6, SecretStore") { scene in
        let store = scene.store
        func offer(_ value: String?, madeAt: Int64, notMadeBefore: Int64, name: String = "apns T K") async throws
          -> String?
        {
          let secret = value.map { Secret(value: $0, madeAt: madeAt) }
          let offer = SecretOffer(name: name, secret: secret, notMadeBefore: notMadeBefore)
          return try await store.exchange(offer).secret?.value
        }
        try expect(try await offer(nil, madeAt: 0, notMadeBefore: 0), is: nil, "a secret before any was offered")
        try expect(
          try await offer("first 'x'\n\u{e9}", madeAt: 1000, notMadeBefore: 500), is: "first 'x'\n\u{e9}", "the first")
        try expect(
          try await offer("second", madeAt: 1500, notMadeBefore: 900), is: "first 'x'\n\u{e9}", "the stored one")
        try expect(
          try await offer(nil, madeAt: 0, notMadeBefore: 1000), is: "first 'x'\n\u{e9}", "the stored one, asked for")
        try expect(try await offer(nil, madeAt: 0, notMadeBefore: 1001), is: nil, "a stored one that is too old")
        try expect(try await offer("third", madeAt: 2000, notMadeBefore: 1001), is: "third", "the one that replaces it")
        let kept = try await store.exchange(SecretOffer(name: "apns T K", secret: nil, notMadeBefore: 0))
        try expect(kept.secret, is: Secret(value: "third", madeAt: 2000), "what is stored in the end")
        try expect(
          try await offer("other", madeAt: 1, notMadeBefore: 0, name: "apns T L"), is: "other", "another name's secret")
      },
      check("of workers that offer at once one wins and all get the same", law: "section 6, SecretStore") { scene in
        let values = try await withThrowingTaskGroup(of: String?.self) { group in
          for number in 0..<8 {
            let store = try await scene.open()
            group.addTask {
              let secret = Secret(value: "secret \(number)", madeAt: 1000 + Int64(number))
              let offer = SecretOffer(name: "one", secret: secret, notMadeBefore: 1000)
              return try await store.exchange(offer).secret?.value
            }
          }
          return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        try expect(values.count, is: 1, "different secrets that workers were given")
      },
      check("a secret that has ended is as good as none, by the store's own clock", law: "section 6, SecretStore") {
        scene in
        let store = scene.store
        let begin = try await store.exchange(SecretOffer(name: "one", secret: nil, notMadeBefore: 0)).now
        func ask(_ value: String? = nil, madeAt: Int64 = 0) async throws -> SecretAnswer {
          // The maker's clock is wrong by a day: it has no say.
          let secret = value.map { Secret(value: $0, madeAt: begin + 86_400_000 + madeAt, endsAt: begin + 600_000) }
          return try await store.exchange(SecretOffer(name: "one", secret: secret, notMadeBefore: 0))
        }
        try expect(try await ask("first").secret?.value, is: "first", "the first")
        try await scene.fixture.advance(milliseconds: 500_000)
        try expect(try await ask("second").secret?.value, is: "first", "the stored one, before its end")
        try await scene.fixture.advance(milliseconds: 100_000)
        try expect(try await ask().secret, is: nil, "one that has ended")
        let third = Secret(value: "third", madeAt: begin + 600_000, endsAt: begin + 1_200_000)
        let offer = SecretOffer(name: "one", secret: third, notMadeBefore: begin)
        try expect(try await store.exchange(offer).secret, is: third, "what takes its place")
      },
    ]
  }
}
