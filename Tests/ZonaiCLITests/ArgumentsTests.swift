import Testing

@testable import ZonaiCLI

struct ArgumentsTests {
  private static let title = Option("--title", "TEXT", "what a person reads first")
  private static let data = Option("--data", "KEY=VALUE", "a key of your own", isRepeated: true)
  private static let lease = Option<Int>("--lease", "SECONDS", "how long", in: 1...3600)
  private static let json = Flag("--json", "as JSON")

  private static let options: OptionList = {
    var list = OptionList()
    list.add(title)
    list.add(data)
    list.add(lease)
    list.add(json)
    return list
  }()

  private func read(_ words: String...) throws(CommandFailure) -> Arguments {
    try Arguments(words, options: Self.options)
  }

  @Test func `values come after a space or an equals sign, operands anywhere`() throws {
    let arguments = try read("one", "--title", "Hello", "--data=a=1", "--data", "b=2", "two", "--json", "--", "--three")
    #expect(try arguments.value(Self.title) == "Hello")
    #expect(try arguments.values(Self.data) == ["a=1", "b=2"])
    #expect(arguments[Self.json])
    #expect(arguments.operands == ["one", "two", "--three"])
    #expect(try arguments.value(Self.lease) == nil)
  }

  @Test func `a value may begin with dashes unless it is an option's name`() throws {
    #expect(try read("--title", "--really--").value(Self.title) == "--really--")
    #expect(try read("--title=--json").value(Self.title) == "--json")
  }

  @Test(arguments: [
    (["--titel", "x"], "there is no option --titel; did you mean --title?"),
    (["--entirely-different"], "there is no option --entirely-different"),
    (["-j"], "there is no option -j"),
    (["--title"], "--title wants a value: --title TEXT"),
    (
      ["--title", "--json"],
      "--title wants a value, and --json is an option; if that is the value, write --title=--json"
    ),
    (["--title", "-h"], "--title wants a value, and -h is an option; if that is the value, write --title=-h"),
    (
      ["--title", "--lease=secret"],
      "--title wants a value, and --lease is an option; if that is the value, write --title=--lease=…"
    ),
    (["--title", "a", "--title=b"], "--title was given twice; give it once"),
    (["--json=yes"], "--json takes no value; write --json alone"),
  ])
  func `what makes no sense is refused in a sentence`(words: [String], sentence: String) {
    #expect(throws: CommandFailure.usage(sentence)) { try Arguments(words, options: Self.options) }
  }

  @Test(arguments: ["0", "3601", "ten", "1.5", ""])
  func `a number out of bounds is refused with its bounds`(text: String) throws {
    #expect(throws: CommandFailure.usage("--lease wants a whole number, 1 to 3600, not '\(text)'")) {
      try read("--lease=\(text)").value(Self.lease)
    }
  }

  @Test func `what is missing is named`() throws {
    #expect(throws: CommandFailure.usage("--title TEXT is missing")) { try read().required(Self.title) }
    #expect(throws: CommandFailure.usage("ID is missing")) { try read("show").operands(named: ["ACTION", "ID"]) }
    #expect(throws: CommandFailure.usage("'c' is one word too many; a value with spaces wants quotes")) {
      try read("a", "b", "c").operands(named: ["ACTION", "ID"])
    }
  }

  @Test(arguments: [
    (["--json", "--title", "-h"], ["--json", "--title"]), (["-h"], ["-h"]),
    (["--title", "--help", "-h"], ["--title", "-h"]),
    (["--title=--help", "word", "--json"], ["--title=--help", "--json"]),
    (["--title", "--", "--json"], ["--title", "--json"]),
    (["--json", "--", "--help"], ["--json"]), (["--unknown", "--help"], ["--unknown", "--help"]),
    (["--title"], ["--title"]),
  ])
  func `a value is never taken for an option`(words: [String], names: [String]) {
    #expect(Arguments.options(in: words, Self.options) == names)
  }
}
