import Testing
import ZonaiCore
import ZonaiTestKit

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct PagerTests {
  @Test(arguments: TransportConformance<PagerFixture>.checks)
  func `the example of the page is a sound transport`(_ check: Check<PagerFixture>) async throws {
    try await check(PagerFixture())
  }

  @Test func `the page shows the example as the tests compile it`() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let root = folder.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/adding-a-transport.md"), encoding: .utf8)
    let code = try String(contentsOf: folder.appending(path: "PagerTransport.swift"), encoding: .utf8)
    #expect(page.contains("```swift\n\(code)```\n"))
  }
}
