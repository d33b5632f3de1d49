import Testing

@testable import ZonaiCore

/// Tokens that fill their column to the end.
struct BatchCutOffTests {
  private static func column(_ type: String, _ capacity: ColumnCapacity?) -> ColumnDescription {
    ColumnDescription(name: "token", type: type, kind: .text(), isNullable: true, capacity: capacity)
  }

  /// A batch of thirty, of which the last three have the answer; the others were delivered to.
  private func settled(
    _ column: ColumnDescription?, tokens: [String], platform: String = "android", answer: Verdict
  ) -> BatchAnswers? {
    var script = BatchScript([])
    script.recipients = Recipients(tokenColumn: column)
    for index in 0..<30 {
      script.recipients.append(
        key: RowKey(.integer(Int64(index))), token: index < 27 ? "token-\(index)" : tokens[index - 27],
        platform: Platform(platform))
    }
    script.answer = { index, _ in index < 27 ? .delivered : answer }
    return script.run().answers
  }

  private static let full = ["a", "b", "c"].map { String(repeating: $0, count: 100) }

  @Test(arguments: [
    column("VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", .characters(100)),
    column("BINARY(100)", .bytes(100)),
  ])
  func `a token that fills its column and is called malformed is kept, and the column is named`(
    column: ColumnDescription
  ) throws {
    let answers = try #require(settled(column, tokens: Self.full, answer: Verdict.tokenNamed))
    #expect(answers.rejections.isEmpty)
    #expect(answers.circumstantial.isEmpty)
    #expect(answers.failure == nil)
    let kept = answers.tally.filter { $0.outcome == .transientlyFailed }
    #expect(kept.map(\.count) == [3])
    #expect(kept.map(\.reason) == [.tokenCutOff])
    let type = column.type.prefix { $0 != " " }
    #expect(kept[0].detail.hasPrefix("devices.token: the column of type \(type) holds 100 "))
  }

  @Test func `a token that is shorter than its column, or called dead, is pruned`() throws {
    let column = Self.column("varchar(101)", .characters(101))
    #expect(try #require(settled(column, tokens: Self.full, answer: Verdict.tokenNamed)).rejections.count == 3)
    let filled = Self.column("varchar(100)", .characters(100))
    #expect(try #require(settled(filled, tokens: Self.full, answer: Verdict.dead)).rejections.count == 3)
    #expect(try #require(settled(nil, tokens: Self.full, answer: Verdict.tokenNamed)).rejections.count == 3)
  }

  @Test func `64 hexadecimal digits are a whole token of APNs, and nothing else is`() throws {
    let column = Self.column("char(64)", .characters(64))
    let digits = String(repeating: "0aF9", count: 16)
    let cut = String(repeating: "0aG9", count: 16)
    let answers = try #require(
      settled(column, tokens: [digits, digits, cut], platform: "ios", answer: Verdict.badDeviceToken))
    #expect(answers.rejections.map(\.token.text) == [digits, digits])
    #expect(answers.tally.filter { $0.reason == .tokenCutOff }.map(\.count) == [1])
  }

  @Test func `characters are counted, not bytes`() {
    #expect(ColumnCapacity.characters(3).isFilled(by: Array("aä😀".utf8)))
    #expect(!ColumnCapacity.characters(3).isFilled(by: Array("aä".utf8)))
    #expect(ColumnCapacity.bytes(3).isFilled(by: Array("aä".utf8)))
    #expect(!ColumnCapacity.bytes(3).isFilled(by: Array("aäb".utf8)))
  }
}
