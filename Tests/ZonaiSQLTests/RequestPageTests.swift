import Testing
import ZonaiCore
import ZonaiJSON

@testable import ZonaiSQL

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// docs/enqueue-from-sql.md says what is so.
@Suite struct RequestPageTests {
  private static func examples(_ kind: String) throws -> [String] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/enqueue-from-sql.md"), encoding: .utf8)
    return page.components(separatedBy: "```\(kind)\n").dropFirst().compactMap { part in
      part.components(separatedBy: "```").first
    }
  }

  @Test func `every document on the page is a request, every list a condition`() throws {
    let examples = try Self.examples("json").map { try JSON(parsing: $0) }
    #expect(examples.count >= 3)
    for example in examples {
      if example.object == nil {
        _ = try Predicate(json: example)
      } else {
        let request = try PushRequest(parsing: example.text)
        try MessageRules.validate(request.definition.message)
      }
    }
  }

  @Test func `what the page says is the default is the default`() throws {
    let documents = try Self.examples("json").filter { $0.hasPrefix("{") }.map { try PushRequest(parsing: $0) }
    let (least, whole) = (try #require(documents.first).definition, try #require(documents.last).definition)
    #expect(least.policy == whole.policy)
    #expect(Routes(apple: .apns, android: .fcm, unknown: .fcm) == whole.routes)
  }
}
