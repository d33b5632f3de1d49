import ZonaiCore

/// What every store must do, as checks: `TokenStoreConformance<MyFixture>.checks`.
///
/// Each check wants a fixture of its own. They are grouped by what they are about, in files of the same name.
public enum TokenStoreConformance<Fixture: StoreFixture> {
  public static var checks: [Check<Fixture>] {
    paging + keys + audience + names + tokens + predicates + values + claiming + sharing + leases + takeovers
      + settling + owing + pruning + sparing + locks + altering + witnesses + weighing + enqueueing + recording
      + refusals
      + jobLife + notes
      + schema + secrets + workers + retention + apps
  }

  /// A check that starts with a migrated store, unless it says otherwise.
  static func check(
    _ name: String, law: String, isMigrated: Bool = true,
    _ body: @escaping @Sendable (Scene<Fixture>) async throws -> Void
  ) -> Check<Fixture> {
    Check(name, law: law) { fixture in
      let scene = try await Scene(fixture, isMigrated: isMigrated)
      do {
        try await body(scene)
      } catch {
        await scene.close()
        throw error
      }
      await scene.close()
    }
  }
}
