import Testing

@testable import ZonaiCore

struct PredicateTextTests {
  @Test(
    arguments: [
      (Column("a") == 1 && Column("b") == "it's", "a = 1 and b = 'it''s'"),
      (Column("we ird") == true, "\"we ird\" = true"),
      (Column("Order") == 1, "Order = 1"), (Column("IN") == 1, "\"IN\" = 1"), (Column("a\"b") == 1, "\"a\"\"b\" = 1"),
      (Column("größe") == 1, "\"größe\" = 1"), (Column("") == 1, "\"\" = 1"),
      (!Column("a").in([1, 2]), "a not in (1, 2)"),
      (!Column("a").like("x%"), "a not like 'x%'"), (Column("a").isNotNull, "a is not null"),
      (!(Column("a") == 1 || Column("b") == 2), "not (a = 1 or b = 2)"), (.and([]), "true"), (.or([]), "false"),
      (Column("a") == 1 && Column("b") == 2 || Column("c") == 3, "a = 1 and b = 2 or c = 3"),
      (Column("a") == .bytes([0, 255]), "a = x'00ff'"), (Column("a") == 1.0, "a = 1.0"),
      (.and([Column("a") == 1]), "a = 1"),
    ] as [(Predicate, String)])
  func `a predicate is written as a person would`(predicate: Predicate, expected: String) {
    #expect(predicate.text == expected)
  }

  @Test func `what is written is read back as the same tree`() throws {
    var chance = SeededGenerator(seed: 3)
    for _ in 0..<5_000 {
      let predicate = Self.predicate(&chance, depth: 4)
      if try PredicateParser.parse(predicate.text) != predicate.flattened { Issue.record("\(predicate.text)") }
    }
  }

  @Test func `any text is read or refused with a place inside it`() {
    var chance = SeededGenerator(seed: 4)
    let pieces = [
      "a", "and", "or", "not", "in", "like", "is", "null", "(", ")", ",", "=", "<", "'", "\"", "x'", "1", "-", ".5",
      "1e", "é",
      " ", "\n", "‘", ";", "true", "''", "\u{0}", "😀",
    ]
    for _ in 0..<5_000 {
      let count = Int.random(in: 0...12, using: &chance)
      let text = (0..<count).compactMap { _ in pieces.randomElement(using: &chance) }.joined(
        separator: Bool.random(using: &chance) ? " " : "")
      do throws(PredicateFault) {
        let predicate = try PredicateParser.parse(text)
        if try PredicateParser.parse(predicate.text) != predicate { Issue.record("\(text)") }
      } catch {
        if !(0...text.utf8.count).contains(error.offset) || error.description.isEmpty { Issue.record("\(text)") }
      }
    }
  }

  /// A tree whose `and` and `or` have no part or at least two.
  static func predicate(_ chance: inout SeededGenerator, depth: Int) -> Predicate {
    let column =
      ["a", "we ird", "and", "x", "größe", "a\"b", "_1", "Null", "a.b", ""].randomElement(using: &chance) ?? "a"
    switch Int.random(in: 0..<(depth == 0 ? 4 : 8), using: &chance) {
    case 0:
      let all: [Predicate.Comparison] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
      return .compare(column, all.randomElement(using: &chance) ?? .equal, value(&chance))
    case 1: return .isIn(column, (0..<Int.random(in: 0...3, using: &chance)).map { _ in value(&chance) })
    case 2: return .like(column, ["", "%", "it's_%", "\\"].randomElement(using: &chance) ?? "")
    case 3: return .isNull(column)
    case 4, 5: return .not(predicate(&chance, depth: depth - 1))
    case 6: return .and(parts(&chance, depth))
    default: return .or(parts(&chance, depth))
    }
  }

  static func parts(_ chance: inout SeededGenerator, _ depth: Int) -> [Predicate] {
    let count = [0, 2, 2, 3].randomElement(using: &chance) ?? 2
    return (0..<count).map { _ in predicate(&chance, depth: depth - 1) }
  }

  static func value(_ chance: inout SeededGenerator) -> Value {
    switch Int.random(in: 0..<6, using: &chance) {
    case 0: .boolean(Bool.random(using: &chance))
    case 1: .integer(Int64.random(in: .min ... .max, using: &chance))
    case 2: .real(Double(bitPattern: UInt64.random(in: 0...0x7fef_ffff_ffff_ffff, using: &chance)))
    case 3: .real([.infinity, -.infinity, 0, -1, 1e300].randomElement(using: &chance) ?? 0)
    case 4: .text(["", "it's", "''", "a\"b", "é\n😀", "null"].randomElement(using: &chance) ?? "")
    default: .bytes((0..<Int.random(in: 0...3, using: &chance)).map { _ in UInt8.random(in: 0...255, using: &chance) })
    }
  }
}
