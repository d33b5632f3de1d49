/// The options of one command, in the order in which its help shows them.
struct OptionList: Sendable {
  struct Entry: Sendable {
    let name: String
    /// nil for a flag.
    let placeholder: String?
    let help: String
    let isRepeated: Bool
  }

  private(set) var entries: [Entry] = []

  mutating func add<Value>(_ option: Option<Value>) {
    entries.append(
      Entry(
        name: option.name, placeholder: option.placeholder, help: option.help, isRepeated: option.isRepeated))
  }

  mutating func add(_ flag: Flag) {
    entries.append(Entry(name: flag.name, placeholder: nil, help: flag.help, isRepeated: false))
  }

  func entry(_ name: String) -> Entry? { entries.first { $0.name == name } }
}
