import ZonaiJSON

/// A command line taken apart: what was given for each option, and the words that belong to none.
///
/// `--name value` and `--name=value` mean the same; after `--` everything is an operand. A value
/// may begin with dashes, but one that is the name of an option must be written with the equals
/// sign.
struct Arguments: Sendable {
  private var given: [String: [String]] = [:]
  private(set) var operands: [String] = []

  /// Throws a usage failure that names the option, and the nearest one where it is not known.
  init(_ words: some Sequence<String>, options: OptionList) throws(CommandFailure) {
    var rest = Array(words)[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        break
      }
      guard word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      try take(word, from: &rest, options)
    }
  }

  private mutating func take(
    _ word: String, from rest: inout ArraySlice<String>, _ options: OptionList
  ) throws(CommandFailure) {
    let equals = word.firstIndex(of: "=")
    let name = equals.map { String(word[..<$0]) } ?? word
    guard let entry = options.entry(name) else {
      throw .usage("there is no option \(name)" + Nearest.hint(name, in: options.entries.map(\.name)))
    }
    if given[name] != nil, !entry.isRepeated { throw .usage("\(name) was given twice; give it once") }
    guard let placeholder = entry.placeholder else {
      if equals != nil { throw .usage("\(name) takes no value; write \(name) alone") }
      given[name] = [""]
      return
    }
    if let equals {
      given[name, default: []].append(String(word[word.index(after: equals)...]))
      return
    }
    guard let value = rest.popFirst() else { throw .usage("\(name) wants a value: \(name) \(placeholder)") }
    // The value was probably forgotten. What follows the equals sign is not repeated, since it may
    // be a password.
    let option = value.prefix { $0 != "=" }
    if option == Shared.shortHelp || options.entry(String(option)) != nil {
      let shown = option.count == value.count ? value : "\(option)=…"
      throw .usage("\(name) wants a value, and \(option) is an option; if that is the value, write \(name)=\(shown)")
    }
    given[name, default: []].append(value)
  }

  /// The words that are options: neither values of others nor operands. Mistakes in them are not
  /// looked for.
  static func options(in words: some Sequence<String>, _ options: OptionList) -> [String] {
    var found: [String] = []
    var isValue = false
    for word in words {
      if isValue {
        isValue = false
      } else if word == "--" {
        break
      } else if word.hasPrefix("-") {
        found.append(word)
        isValue = options.entry(word)?.placeholder != nil
      }
    }
    return found
  }

  subscript(flag: Flag) -> Bool { given[flag.name] != nil }

  /// The option's value; nil when it was not given.
  func value<Value>(_ option: Option<Value>) throws(CommandFailure) -> Value? {
    guard let text = given[option.name]?.last else { return nil }
    return try parse(text, option)
  }

  /// Every value of an option that may be repeated.
  func values<Value>(_ option: Option<Value>) throws(CommandFailure) -> [Value] {
    var values: [Value] = []
    for text in given[option.name] ?? [] { values.append(try parse(text, option)) }
    return values
  }

  /// The value of an option that the command cannot do without.
  func required<Value>(_ option: Option<Value>) throws(CommandFailure) -> Value {
    guard let value = try value(option) else { throw .usage("\(option.name) \(option.placeholder) is missing") }
    return value
  }

  private func parse<Value>(_ text: String, _ option: Option<Value>) throws(CommandFailure) -> Value {
    do throws(ArgumentProblem) { return try option.parse(text) } catch {
      throw .usage("\(option.name) \(error.clause)")
    }
  }

  func noOperands() throws(CommandFailure) { _ = try operands(named: []) }

  /// The operands, exactly one for each name.
  func operands(named names: [String]) throws(CommandFailure) -> [String] {
    if operands.count < names.count { throw .usage("\(names[operands.count]) is missing") }
    if operands.count > names.count {
      throw .usage("'\(operands[names.count])' is one word too many; a value with spaces wants quotes")
    }
    return operands
  }
}
