/// Reads the grammar, one token ahead:
///
///     condition  = all { "or" all }
///     all        = one { "and" one }
///     one        = "not" one | "(" condition ")" | "true" | "false" | comparison
///     comparison = column ( op value | ["not"] "in" "(" [value {"," value}] ")" | ["not"] "like" text | "is" ["not"] "null" )
struct PredicateReader {
  private var scanner: PredicateScanner
  private var token: PredicateToken
  private var depth = 0

  init(_ text: String) throws(PredicateFault) {
    scanner = PredicateScanner(text)
    token = try scanner.next()
  }

  mutating func whole() throws(PredicateFault) -> Predicate {
    if token.kind == .end { throw fault("The condition is empty: write one such as active = true, or leave it out.") }
    let predicate = try condition()
    switch token.kind {
    case .end: return predicate
    case .close: throw fault("This parenthesis was never opened.")
    case .name, .quotedName, .text, .integer, .real, .bytes, .comparison, .comma, .open, .keyword:
      throw fault("The condition was complete here: join another one with and or or.")
    }
  }

  private mutating func condition() throws(PredicateFault) -> Predicate {
    let first = try all()
    guard token.kind == .keyword("or") else { return first }
    var parts = first.disjuncts ?? [first]
    while try take(.keyword("or")) {
      let next = try all()
      parts += next.disjuncts ?? [next]
    }
    return .or(parts)
  }

  private mutating func all() throws(PredicateFault) -> Predicate {
    let first = try one()
    guard token.kind == .keyword("and") else { return first }
    var parts = first.conjuncts ?? [first]
    while try take(.keyword("and")) {
      let next = try one()
      parts += next.conjuncts ?? [next]
    }
    return .and(parts)
  }

  private mutating func one() throws(PredicateFault) -> Predicate {
    guard depth < PredicateParser.depthLimit else {
      throw fault("The condition is nested more than \(PredicateParser.depthLimit) deep: write it flatter.")
    }
    depth += 1
    defer { depth -= 1 }
    switch token.kind {
    case .keyword("not"):
      try advance()
      return .not(try one())
    case .open:
      let opened = token.offset
      try advance()
      let inner = try condition()
      guard try take(.close) else {
        if token.kind == .end { throw scanner.fault("This parenthesis is never closed: add ).", at: opened) }
        throw fault("Expected and, or, or a closing parenthesis here.")
      }
      return inner
    case .keyword("true"):
      try advance()
      return .and([])
    case .keyword("false"):
      try advance()
      return .or([])
    case .name(let name), .quotedName(let name):
      let column = token
      try advance()
      return try comparison(of: name, at: column)
    default:
      throw fault(expectedAColumn)
    }
  }

  private var expectedAColumn: String {
    switch token.kind {
    case .end: "The condition ends too early: a column's name is missing."
    case .text, .integer, .real, .bytes, .keyword("null"): "The column stands on the left: write column = value."
    default: "Expected a column's name, not or a parenthesis here."
    }
  }

  private mutating func comparison(of column: String, at place: PredicateToken) throws(PredicateFault) -> Predicate {
    switch token.kind {
    case .comparison(let comparison):
      try advance()
      if token.kind == .keyword("null") {
        let instead = comparison == .notEqual ? "is not null" : "is null"
        throw fault("Nothing equals null, null itself included: write \(PredicateText.name(column)) \(instead).")
      }
      return .compare(column, comparison, try value())
    case .keyword("is"):
      try advance()
      let isNot = try take(.keyword("not"))
      guard try take(.keyword("null")) else {
        throw fault("After is stands null or not null; for other values write \(PredicateText.name(column)) = value.")
      }
      return isNot ? .not(.isNull(column)) : .isNull(column)
    case .keyword("not"):
      try advance()
      return .not(try membership(of: column))
    case .keyword("in"), .keyword("like"):
      return try membership(of: column)
    default:
      throw noComparison(of: column, at: place)
    }
  }

  private func noComparison(of column: String, at place: PredicateToken) -> PredicateFault {
    switch token.kind {
    case .name(let word) where word.lowercased() == "between":
      fault("between is not known: write \(PredicateText.name(column)) >= a and \(PredicateText.name(column)) <= b.")
    case .name(let word):
      fault("\(PredicateText.name(word)) is no comparison: use = <> < <= > >=, in, like or is null.")
    case .open:
      fault("Functions are not known: compare the column \(PredicateText.name(column)) itself.")
    default:
      scanner.fault(
        "\(PredicateText.name(column)) is compared with nothing: write \(PredicateText.name(column)) = true, for example.",
        at: place.offset)
    }
  }

  private mutating func membership(of column: String) throws(PredicateFault) -> Predicate {
    if try take(.keyword("like")) {
      guard case .text(let pattern) = token.kind else { throw fault("After like stands a text in single quotes.") }
      try advance()
      return .like(column, pattern)
    }
    guard try take(.keyword("in")) else { throw fault("After not stands in or like here.") }
    guard try take(.open) else { throw fault("After in stands a list in parentheses, such as ('en', 'fr').") }
    var values: [Value] = []
    if try take(.close) { return .isIn(column, values) }
    repeat {
      if token.kind == .keyword("null") {
        throw fault("Nothing equals null: take it out of the list, and add or \(PredicateText.name(column)) is null.")
      }
      values.append(try value())
    } while try take(.comma)
    guard try take(.close) else { throw fault("Expected a comma or a closing parenthesis in the list here.") }
    return .isIn(column, values)
  }

  private mutating func value() throws(PredicateFault) -> Value {
    let value: Value
    switch token.kind {
    case .text(let text): value = .text(text)
    case .integer(let integer): value = .integer(integer)
    case .real(let real): value = .real(real)
    case .bytes(let bytes): value = .bytes(bytes)
    case .keyword("true"): value = .boolean(true)
    case .keyword("false"): value = .boolean(false)
    case .name(let word):
      throw fault(
        "A column is compared with a value, not with another column: text stands in single quotes, '\(word)'.")
    case .quotedName(let word):
      throw fault("Double quotes name a column: text stands in single quotes, '\(word)'.")
    case .end: throw fault("The condition ends too early: a value is missing.")
    default: throw fault("Expected a value here: a number, true, false, x'…' or text in single quotes.")
    }
    try advance()
    return value
  }

  private mutating func advance() throws(PredicateFault) { token = try scanner.next() }

  private mutating func take(_ kind: PredicateToken.Kind) throws(PredicateFault) -> Bool {
    guard token.kind == kind else { return false }
    try advance()
    return true
  }

  private func fault(_ sentence: String) -> PredicateFault { scanner.fault(sentence, at: token.offset) }
}
