import ZonaiCore

/// What every store must do, as checks: `TokenStoreConformance<MyFixture>.checks`.
///
/// Each check wants a fixture of its own. They are grouped by what they are about, in files of the same name.
public enum TokenStoreConformance<Fixture: StoreFixture> {
  public static var checks: [Check<Fixture>] {
    paging + keys + audience + predicates + claiming + leases + takeovers + settling + owing + pruning + sparing
      + witnesses + enqueueing + refusals + jobLife + schema + secrets
  }

  /// A check that starts with a migrated store.
  static func check(
    _ name: String, law: String, _ body: @escaping @Sendable (Scene<Fixture>) async throws -> Void
  ) -> Check<Fixture> {
    Check(name, law: law) { fixture in try await body(Scene(fixture)) }
  }
}
