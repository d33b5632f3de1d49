import Testing

@testable import ZonaiCore

/// What a written value means for a column that cannot hold it.
struct ColumnTestTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let kind: ColumnKind
    let comparison: Predicate.Comparison
    let value: Value
    let test: ColumnTest
    var testDescription: String { "\(kind) \(comparison.rawValue) \(value)" }

    init(_ kind: ColumnKind, _ comparison: Predicate.Comparison, _ value: Value, _ test: ColumnTest) {
      (self.kind, self.comparison, self.value, self.test) = (kind, comparison, value, test)
    }
  }

  static let tiny = ColumnKind.integer(least: -128, greatest: 127)
  static let price = ColumnKind.decimal(DecimalLimits(precision: 10, scale: 2))

  @Test(arguments: [
    Case(tiny, .equal, 5, .compare(.equal, 5)), Case(tiny, .equal, true, .compare(.equal, 1)),
    Case(tiny, .equal, "5.0", .compare(.equal, 5)), Case(tiny, .equal, 300, .always(false, value: 127)),
    Case(tiny, .notEqual, 1.5, .always(true, value: 1)), Case(tiny, .less, 1.5, .compare(.lessOrEqual, 1)),
    Case(tiny, .greaterOrEqual, -1.5, .compare(.greater, -2)), Case(tiny, .less, 300, .compare(.lessOrEqual, 127)),
    Case(tiny, .greater, -300, .always(true, value: -300)), Case(tiny, .less, -300, .always(false, value: -300)),
    Case(price, .equal, 0.125, .always(false, value: "0.12")), Case(price, .greater, 4.255, .compare(.greater, "4.25")),
    Case(price, .equal, 0.1, .compare(.equal, "0.1")), Case(price, .less, -0.001, .compare(.lessOrEqual, "-0.01")),
    Case(price, .less, "1e30", .compare(.lessOrEqual, "99999999.99")),
    Case(price, .equal, "-99.50", .compare(.equal, "-99.5")),
    Case(.decimal(nil), .equal, "1e-20", .compare(.equal, "0.00000000000000000001")),
    Case(.real(isSingle: true), .lessOrEqual, 0.1, .compare(.lessOrEqual, .real(Double(Float(0.1))))),
    Case(.real(isSingle: true), .less, 16_777_217, .compare(.lessOrEqual, 16_777_216.0)),
    Case(.real(), .equal, "0.1", .compare(.equal, 0.1)),
    Case(.real(), .less, "0.10000000000000000001", .compare(.lessOrEqual, 0.1)),
    Case(.real(), .equal, .integer(.max), .always(false, value: .real(0x1p63.nextDown))),
    Case(.number, .less, "9223372036854775806.5", .compare(.lessOrEqual, 9_223_372_036_854_775_806)),
    Case(.boolean, .equal, 1, .compare(.equal, true)),
    Case(.bytes(width: 3), .equal, .bytes([1]), .compare(.equal, .bytes([1, 0, 0]))),
    Case(.bytes(width: 1), .equal, .bytes([1, 2]), .always(false, value: .bytes([1]))),
    Case(.date, .less, "2026-01-31 12:00", .compare(.lessOrEqual, "2026-01-31")),
    Case(.moment, .equal, "2026-01-31T12:00Z", .compare(.equal, "2026-01-31 12:00:00.000000")),
    Case(.moment, .greater, "2026-01-31 12:00:00.0000015", .compare(.greater, "2026-01-31 12:00:00.000001")),
    Case(
      .timeOfDay(least: -838, greatest: 838), .less, "-01:00:00.0000001", .compare(.lessOrEqual, "-01:00:00.000001")),
    Case(.text(TextRules(.windows1252)), .notEqual, "\u{1F600}", .always(true, value: "\u{1F600}")),
    Case(.text(TextRules(.windows1252)), .equal, "€", .compare(.equal, "€")),
    Case(.anything(convertsText: true), .less, "5", .compare(.less, 5)),
    Case(.anything(convertsText: false), .less, "5", .compare(.less, "5")),
  ])
  func `a value is taken for what it means`(_ example: Case) throws {
    let column = ColumnDescription(name: "c", type: "type", kind: example.kind, isNullable: true)
    #expect(try column.test(example.comparison, example.value) == example.test)
  }

  @Test(
    arguments: [
      (tiny, "five"), (tiny, ""), (tiny, .real(.nan)), (tiny, .bytes([1])), (price, true), (price, .real(.infinity)),
      (.boolean, 2),
      (.boolean, "true"), (.text(), 0), (.text(), true), (.bytes(), "a"), (.uuid(isOrdered: true), "a"),
      (.date, "2026-02-29"),
      (.date, 2026), (.moment, "2026-13-01"), (.moment, "2026-01-01 25:00:00"), (.moment, "2026-01-01 12:00:00+02:00"),
      (.moment, "noon"),
      (.moment, "2026-01-01 23:59:60"), (.moment, "0000-00-00"), (.timeOfDay(least: 0, greatest: 24), "24:00:01"),
      (.timeOfDay(least: 0, greatest: 24), "noon"), (.choice(["a"]), "A"), (.choice(["a"]), 1), (.array, "{}"),
      (.json, "{}"), (.other, 1),
      (.text(TextRules(.common)), "é"),
    ] as [(ColumnKind, Value)])
  func `a value without a meaning for the column is refused, and not told`(_ kind: ColumnKind, _ value: Value) throws {
    let column = ColumnDescription(name: "c", type: "type", kind: kind, isNullable: true)
    let error = #expect(throws: StoreError.self) { try column.test(.equal, value) }
    #expect(error?.code == .invalidPredicate)
    #expect(error?.sentence.hasPrefix("c is type") == true)
    let inList = #expect(throws: StoreError.self) { try column.test(in: [value]) }
    #expect(inList?.sentence == error?.sentence)
  }

  @Test func `a chain is one list however it is built, read or written`() throws {
    let chain = (1...3000).map { Column("a") == .integer($0) }
    let built = chain.dropFirst().reduce(chain[0]) { $0 || $1 }
    #expect(built == .or(chain))
    #expect(try PredicateParser.parse(built.text) == built)
    #expect(
      try PredicateParser.parse("a = 1 or (a = 2 or (a = 3 and (a = 4 and a = 5)))")
        == .or([chain[0], chain[1], .and(Array(chain[2..<5]))]))
    #expect(chain.dropFirst().reduce(chain[0]) { .or([$0, $1]) }.flattened == built)
    #expect((chain[0] && .and([])).flattened == .and([chain[0], .and([])]))
    #expect((0..<100).reduce(chain[0]) { part, _ in !part }.flattened != nil)
    #expect((0..<101).reduce(chain[0]) { part, _ in !part }.flattened == nil)
  }
}
