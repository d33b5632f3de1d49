import Testing
import ZonaiCore

@testable import ZonaiTestKit

@Suite(.timeLimit(.minutes(10))) struct BrokenStoreTests {
  /// A flaw that breaks more checks than this is too coarse to show that any one of them looks at the right thing.
  private static let greatestBreadth = 20
  /// Checks with many rows or values, which take as long as all others together: only run for flaws of their own kind.
  private static let large: [String: [Flaw]] = [
    "a list may hold a hundred thousand ids": Flaw.predicates, "a list may hold a hundred thousand texts": Flaw.values,
    "thousands of conditions may be joined, as a list or one after the other": Flaw.values,
    "values of every type compare as their type does": Flaw.values,
    "text keys go by their bytes": Flaw.keys, "a whole batch is pruned in one step": Flaw.pruning,
    "2 workers that claim at once hand out everybody of each job once": Flaw.claiming + Flaw.sharing,
    "4 workers that claim at once hand out everybody of each job once": Flaw.claiming + Flaw.sharing,
    "a batch of twelve hundred is owed, shown and pruned whole": Flaw.pruning,
  ]

  @Test func `every flaw is noticed, and every check notices a flaw that leaves most others alone`() async {
    // Two at a time: tens of thousands of short checks.
    let noticed = await withTaskGroup(of: Set<String>.self) { group in
      for half in 0..<2 {
        group.addTask {
          var noticed: Set<String> = []
          for (index, flaw) in Flaw.all.enumerated() where index % 2 == half {
            let broken = await brokenChecks(flaw)
            #expect(!broken.isEmpty, "a store that \(flaw.name) passes every check")
            if broken.count <= Self.greatestBreadth { noticed.formUnion(broken) }
          }
          return noticed
        }
      }
      return await group.reduce(into: Set<String>()) { $0.formUnion($1) }
    }
    let unproven = Set(TokenStoreConformance<BrokenFixture>.checks.map(\.name)).subtracting(noticed)
    #expect(unproven.sorted() == [])
  }

  @Test func `a store that only passes its calls on passes every check`() async {
    #expect(await brokenChecks(Flaw("changes nothing") { _ in }) == [])
  }

  @Test func `a store that says at each migration what its database cannot make passes every check`() async {
    let store = Flaw("has notes") { flaw in
      flaw.migrate = { (store) throws(StoreError) in
        var migration = try await store.migrate()
        migration.notes = ["the function zonai_push cannot be made: ask for the right to make functions"]
        return migration
      }
    }
    #expect(await brokenChecks(store) == [])
  }

  private func brokenChecks(_ flaw: Flaw) async -> Set<String> {
    var broken: Set<String> = []
    for check in TokenStoreConformance<BrokenFixture>.checks {
      if let kind = Self.large[check.name], !kind.contains(where: { $0.name == flaw.name }) { continue }
      do {
        try await check(BrokenFixture(flaw: flaw))
      } catch {
        broken.insert(check.name)
      }
    }
    return broken
  }
}
