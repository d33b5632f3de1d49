import Testing

@testable import ZonaiCore

struct PredicateParserTests {
  static let active = Column("active") == true
  static let english = Column("locale").in(["en", "fr"])

  /// A condition and what it means; one statement each, since the compiler solves a literal of them all as one riddle.
  static let readings: [Reading] = {
    var list: [Reading] = []
    func add(_ text: String, _ expected: Predicate) { list.append(Reading(text: text, expected: expected)) }
    add("active = true and locale in ('en','fr')", active && english)
    add("ACTIVE=TRUE", Column("ACTIVE") == true)
    add("a == 1", Column("a") == 1)
    add("a <> 1", Column("a") != 1)
    add("a != 1", Column("a") != 1)
    add("a<1", Column("a") < 1)
    add("a <= 1", Column("a") <= 1)
    add("a > -1", Column("a") > -1)
    add("a >= +1", Column("a") >= 1)
    add("a = 1.5", Column("a") == 1.5)
    add("a = .5", Column("a") == 0.5)
    add("a = 1e3", Column("a") == 1000.0)
    add("a = -1.5E-3", Column("a") == -0.0015)
    add("a = 9223372036854775807", Column("a") == .integer(.max))
    add("a = -9223372036854775808", Column("a") == .integer(.min))
    add("a = 'it''s'", Column("a") == "it's")
    add("a = ''", Column("a") == "")
    add("a = 'é\n😀'", Column("a") == "é\n😀")
    add("a = x'00fF'", Column("a") == .bytes([0, 255]))
    add("a = X''", Column("a") == .bytes([]))
    add("a = false", Column("a") == false)
    add("\"we ird\" = 1", Column("we ird") == 1)
    add("\"a\"\"b\" = 1", Column("a\"b") == 1)
    add("\"and\" = 1", Column("and") == 1)
    add("größe > 1", Column("größe") > 1)
    add("a is null", Column("a").isNull)
    add("a IS NOT NULL", Column("a").isNotNull)
    add("not a is null", !Column("a").isNull)
    add("a like 'x%'", Column("a").like("x%"))
    add("a not like 'x%'", !Column("a").like("x%"))
    add("a not in (1)", !Column("a").in([1]))
    add("a in ()", Column("a").in([]))
    add("a in (1, 'b', x'00', true, 1.5)", Column("a").in([1, "b", .bytes([0]), true, 1.5]))
    add("a = 1 or b = 2 and c = 3", Column("a") == 1 || (Column("b") == 2 && Column("c") == 3))
    add("(a = 1 or b = 2) and c = 3", (Column("a") == 1 || Column("b") == 2) && Column("c") == 3)
    add("a = 1 and b = 2 and c = 3", .and([Column("a") == 1, Column("b") == 2, Column("c") == 3]))
    add("not a = 1 and b = 2", .and([!(Column("a") == 1), Column("b") == 2]))
    add("not (a = 1 and b = 2)", !(Column("a") == 1 && Column("b") == 2))
    add("not not a = 1", !(!(Column("a") == 1)))
    add("((a = 1))", Column("a") == 1)
    add("true", .and([]))
    add("not false", !.or([]))
    add(" \t\n a\r\n=\n1 ", Column("a") == 1)
    return list
  }()

  struct Reading: Sendable {
    let text: String
    let expected: Predicate
  }

  @Test(arguments: readings)
  func `a condition is read as it is meant`(_ reading: Reading) throws {
    #expect(try PredicateParser.parse(reading.text) == reading.expected)
  }

  static func fault(_ text: String) -> PredicateFault? {
    do throws(PredicateFault) {
      _ = try PredicateParser.parse(text)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    ("", 1, "empty"), ("   ", 4, "empty"), ("a", 1, "compared with nothing"), ("active and b = 1", 1, "active = true"),
    ("a = ", 5, "value is missing"), ("a = null", 5, "a is null"), ("a <> NULL", 6, "a is not null"),
    ("a in (1, null)", 10, "or a is null"), ("a = en", 5, "'en'"), ("a = \"en\"", 5, "single quotes, 'en'"),
    ("a = 'en", 5, "never closed"), ("\"a = 1", 1, "never closed"), ("(a = 1", 1, "never closed"),
    ("a = 1)", 6, "never opened"), ("a = 1 b = 2", 7, "join another"), ("a = 1,", 6, "join another"),
    ("a =< 1", 3, "no comparison"), ("a equals 1", 3, "no comparison"), ("a between 1 and 2", 3, "a >= a and a <= b"),
    ("lower(a) = 'x'", 6, "Functions"), ("5 < a", 1, "on the left"), ("'x' = a", 1, "on the left"),
    ("a like 5", 8, "text in single quotes"), ("a in 5", 6, "list in parentheses"), ("a in (1 2)", 9, "comma"),
    ("a in (1,)", 9, "Expected a value"), ("a is true", 6, "null or not null"), ("a not 5", 7, "in or like"),
    ("t.a = 1", 1, "named alone"), ("a = 1;", 6, "semicolon"), ("a = ?", 5, "no parameters"), ("a = $1", 5, "'$1'"),
    ("`a` = 1", 1, "double quotes"), ("a = ‘en’", 5, "typographic"), ("a = 12abc", 5, "no number"),
    ("a = 0x10", 5, "no number"), ("a = 1-2", 6, "join another"), ("a = -", 5, "no number"),
    ("a = 1.2.3", 5, "no number"),
    ("a = nan", 5, "'nan'"), ("a = 9223372036854775808", 5, "too large"), ("a = x'0'", 5, "hexadecimal"),
    ("a = x'zz'", 5, "hexadecimal"), ("and a = 1", 1, "Expected a column"), ("a = 1 and", 10, "too early"),
    ("a = 1 or or b = 2", 10, "Expected a column"), ("not", 4, "too early"), ("()", 2, "Expected a column"),
    ("a = 1 -- all", 7, "no number"), ("a = {}", 5, "no meaning"), ("a = (1)", 5, "Expected a value"),
    ("true = a", 6, "join another"),
  ])
  func `a condition that cannot be read shows the place and says what to do`(
    text: String, column: Int, says: String
  ) throws {
    let fault = try #require(Self.fault(text))
    #expect(fault.column == column)
    #expect(fault.sentence.contains(says), "\(fault.sentence)")
    #expect(fault.sentence.hasSuffix("."))
    #expect(fault.description.contains("column \(column)"))
  }

  @Test func `the caret stands under the place`() {
    #expect(
      Self.fault("größe = 1 and locale = en")?.description == """
        A column is compared with a value, not with another column: text stands in single quotes, 'en'. (column 24)
          größe = 1 and locale = en
                                 ^
        """)
    #expect(
      Self.fault("a = 1\nand\tb = en\nor c = 1")?.description.hasSuffix(
        "(line 2, column 9)\n  and\tb = en\n     \t    ^") == true)
  }

  @Test func `of a long condition only the place is shown`() throws {
    let list = (0..<10_000).map(String.init).joined(separator: ", ")
    let fault = try #require(Self.fault("id in (\(list), x, \(list))"))
    #expect(fault.description.count < 400)
    let lines = fault.description.split(separator: "\n")
    #expect(Array(lines[1])[lines[2].count - 1] == "x")
  }

  @Test func `a nesting too deep ends with a sentence`() {
    let deep = String(repeating: "(", count: 1_000_000)
    #expect(Self.fault(deep)?.sentence.contains("nested") == true)
    #expect(Self.fault(String(repeating: "not ", count: 100_000) + "a = 1")?.sentence.contains("nested") == true)
    let allowed = PredicateParser.depthLimit - 1
    #expect(
      Self.fault(String(repeating: "(", count: allowed) + "a = 1" + String(repeating: ")", count: allowed)) == nil)
  }

  @Test func `a hundred thousand values are read`() throws {
    let text = "id in (" + (0..<100_000).map(String.init).joined(separator: ",") + ")"
    guard case .isIn("id", let values) = try PredicateParser.parse(text) else {
      Issue.record("not a list")
      return
    }
    #expect(values.count == 100_000)
    #expect(values.last == 99_999)
  }
}
