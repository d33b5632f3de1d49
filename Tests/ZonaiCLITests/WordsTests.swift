import Testing

@testable import ZonaiCLI

/// README and docs say what is so.
struct WordsTests {
  private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    .joined(separator: "/")

  private func text(_ path: String) throws -> String { try Folder.read("\(Self.root)/\(path)") }

  @Test func `the README's Swift is what the tests compile`() throws {
    let readme = try text("README.md")
    let shown = try #require(readme.firstRange(of: "```swift\n").map { readme[$0.upperBound...] })
    let block = shown[..<(try #require(shown.firstRange(of: "```\n")).lowerBound)]

    let lines = try text("Tests/ZonaiCLITests/ReadmeExample.swift").split(
      separator: "\n", omittingEmptySubsequences: false)
    let imports = lines.filter { $0.hasPrefix("import ") }
    let body = lines.drop { !$0.hasPrefix("func ") }.dropFirst().prefix { $0 != "}" }.map { $0.dropFirst(2) }
    #expect(block == (imports + [""] + body).map { $0 + "\n" }.joined())
  }

  @Test(arguments: ZonaiCommand.commands.map { $0.name })
  func `every option is in the help and in docs`(_ name: String) async throws {
    let command = try #require(ZonaiCommand.commands.first { $0.name == name })
    let help = try await Shell.run(name, "--help")
    #expect(help.code == 0)
    #expect(help.errors.isEmpty)
    #expect(help.output.contains("Usage: zonai \(name)"))
    #expect(try await Shell.run("help", name).output == help.output)
    #expect(try await Shell.run("--help").output.contains("  \(name) "))
    let docs = try text("docs/command.md")
    for entry in command.options.entries
    where !["--help", "--store", "--config", "--limit", "--state"].contains(entry.name) {
      #expect(help.output.contains("  \(entry.name)"))
      #expect(docs.contains(entry.name), "docs/command.md does not mention \(entry.name)")
    }
    for line in help.output.split(separator: "\n") { #expect(line.count <= 130, "\(line)") }
  }

  @Test func `every field of the configuration is in docs`() throws {
    let docs = try text("docs/configuration.md")
    for field in Configuration.allFields {
      #expect(
        docs.contains("| `\(field)` |") || docs.contains("## `\(field)`") || docs.contains("`\(field)` is"), "\(field)")
    }
  }

  @Test(arguments: ["README.md", "docs/command.md", "docs/configuration.md", "docs/guarantees.md"])
  func `links lead to files that are there`(_ page: String) throws {
    let folder = page.contains("/") ? "docs/" : ""
    for link in try text(page).split(separator: "](").dropFirst() {
      let target = link.prefix { $0 != ")" && $0 != "#" }
      guard !target.isEmpty, !target.hasPrefix("http") else { continue }
      #expect(!(try text(folder + target)).isEmpty)
    }
  }
}
