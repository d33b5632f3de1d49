/// An option that takes a value, and how its text becomes that value.
struct Option<Value: Sendable>: Sendable {
  /// With its dashes: `--store`.
  let name: String
  /// What stands for the value in the help: `FILE`.
  let placeholder: String
  let help: String
  /// Whether it may be given more than once.
  let isRepeated: Bool
  /// Gives the value, or throws a clause that follows the option's name: "wants a whole number".
  let parse: @Sendable (String) throws(ArgumentProblem) -> Value

  init(
    _ name: String, _ placeholder: String, _ help: String, isRepeated: Bool = false,
    parse: @escaping @Sendable (String) throws(ArgumentProblem) -> Value
  ) {
    self.name = name
    self.placeholder = placeholder
    self.help = help
    self.isRepeated = isRepeated
    self.parse = parse
  }
}

extension Option where Value == String {
  init(_ name: String, _ placeholder: String, _ help: String, isRepeated: Bool = false) {
    self.init(name, placeholder, help, isRepeated: isRepeated) { text throws(ArgumentProblem) in
      if text.isEmpty { throw ArgumentProblem("wants something that is not empty") }
      return text
    }
  }
}

extension Option where Value == Int {
  /// A whole number within bounds.
  init(_ name: String, _ placeholder: String, _ help: String, in range: ClosedRange<Int>) {
    self.init(name, placeholder, help) { text throws(ArgumentProblem) in
      guard let number = Int(text), range.contains(number) else {
        let bounds =
          range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
        throw ArgumentProblem("wants a whole number, \(bounds), not '\(text)'")
      }
      return number
    }
  }
}

extension Option where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// One of a few words.
  init(_ name: String, oneOf: Value.Type, _ help: String) {
    let words = Value.allCases.map(\.rawValue)
    self.init(name, words.joined(separator: "|"), help) { text throws(ArgumentProblem) in
      guard let value = Value(rawValue: text) else {
        throw ArgumentProblem("is one of \(words.joined(separator: ", ")), not '\(text)'")
      }
      return value
    }
  }
}

/// An option that is there or not.
struct Flag: Sendable {
  let name: String
  let help: String

  init(_ name: String, _ help: String) {
    self.name = name
    self.help = help
  }
}

/// What is wrong with a value, as a clause that follows the name of its option.
struct ArgumentProblem: Error {
  let clause: String
  init(_ clause: String) { self.clause = clause }
}
