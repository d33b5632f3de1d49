import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The code on the pages for those who add to Zonai is code that compiles, since it stands in the file that the page names.
@Suite struct DocumentTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }

  @Test(arguments: [("docs/adding-a-store.md", 6), ("docs/adding-a-transport.md", 3)])
  func `every example on a page stands in the file that it names`(_ page: String, _ least: Int) throws {
    let lines = try text(page).split(separator: "\n", omittingEmptySubsequences: false)
    var examples = 0
    for (index, line) in lines.enumerated() where line == "```swift" {
      let source = lines[index - 1]
      let path = String(source.dropFirst("<!-- from: ".count).dropLast(" -->".count))
      #expect(source == "<!-- from: \(path) -->", "line \(index + 1) names no file")
      let example = lines[(index + 1)...].prefix { $0 != "```" }.joined(separator: "\n")
      #expect(try text(path).contains(example), "\(path) holds no such code: \(example)")
      examples += 1
    }
    #expect(examples >= least)
  }

  @Test(arguments: ["docs/adding-a-store.md", "docs/adding-a-transport.md"])
  func `every file that a page names by its path is there`(_ page: String) throws {
    let paths = try text(page).matches(of: /(?:Sources|Tests)\/[A-Za-z+\/]+\.swift/).map { String($0.output) }
    #expect(!paths.isEmpty)
    for path in paths {
      #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: path).path), "\(path)")
    }
  }

  @Test func `every file of an adapter that the page names is there`() throws {
    let page = try text("docs/adding-a-store.md")
    for match in page.matches(of: /`([A-Za-z+]+\.swift)`/) {
      let path = "Sources/ZonaiSQLite/\(match.1)"
      #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: path).path), "\(path)")
    }
  }
}
