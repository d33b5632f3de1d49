import Testing
import ZonaiCore
import ZonaiTestKit

@Suite struct BrokenTransportTests {
  /// Takes as long as all others together: only run for flaws of its own kind.
  private static let large = "ten thousand recipients are delivered to, each once"

  @Test func `every flaw is noticed, and every check notices a flaw that leaves most others alone`() async {
    var noticed: Set<String> = []
    for flaw in TransportFlaw.all {
      let broken = await brokenChecks(flaw)
      #expect(!broken.isEmpty, "a transport that \(flaw.name) passes every check")
      if broken.count <= 8 { noticed.formUnion(broken) }
    }
    let unproven = Set(TransportConformance<BrokenTransportFixture>.checks.map(\.name)).subtracting(noticed)
    #expect(unproven.sorted() == [])
  }

  @Test func `a transport that only passes its calls on passes every check`() async {
    #expect(await brokenChecks(TransportFlaw("changes nothing") { _ in }) == [])
  }

  private func brokenChecks(_ flaw: TransportFlaw) async -> Set<String> {
    var broken: Set<String> = []
    for check in TransportConformance<BrokenTransportFixture>.checks {
      if check.name == Self.large, !TransportFlaw.sending.contains(where: { $0.name == flaw.name }) { continue }
      do {
        try await check(BrokenTransportFixture(flaw))
      } catch {
        broken.insert(check.name)
      }
    }
    return broken
  }
}
