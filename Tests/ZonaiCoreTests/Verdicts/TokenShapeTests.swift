import Testing

@testable import ZonaiCore

struct TokenShapeTests {
  static let hex64 = String(repeating: "0aF9", count: 16)

  @Test(arguments: [
    (hex64, false, true), (hex64 + "00", false, true), (hex64 + "0", false, false),
    (String(hex64.dropLast()), true, false), (String(hex64.dropLast(2)), true, true),
    ("cXyz:APA91b_-", true, false), ("", true, false), ("ab", true, true), ("<0a0b>", true, false),
    (hex64 + ":APA91", true, false),
    (String(repeating: "a1", count: 200), false, true), (String(repeating: "a1", count: 201), false, false),
    (String(repeating: "a1", count: 70_000), false, false), ("0a 0b ", true, false), ("it's\n", true, false),
    ("é", true, false),
  ])
  func `a token that cannot belong to a lane is refused by its bytes`(token: String, fcm: Bool, apns: Bool) {
    let bytes = ArraySlice(token.utf8)
    #expect((TokenShape.refusal(bytes, for: .fcm) == nil) == fcm)
    #expect((TokenShape.refusal(bytes, for: .apns) == nil) == apns)
    #expect(TokenShape.refusal(bytes, for: TransportName(rawValue: "pigeon")) == nil)
  }

  @Test func `a refused token is a setting's fault and never touches its row`() throws {
    let verdict = try #require(TokenShape.refusal(ArraySlice(Self.hex64.utf8), for: .fcm))
    #expect(verdict.inShort == Kind.setting)
    #expect(verdict.reason == .tokenNotForLane)
    #expect(verdict.names != nil)
  }

  @Test func `a token that is far too long names its column`() throws {
    let verdict = try #require(TokenShape.refusal(ArraySlice(String(repeating: "a1", count: 201).utf8), for: .apns))
    #expect(verdict.inShort == Kind.setting)
    #expect(verdict.reason == .tokenNotForLane)
    #expect(verdict.names == "the token column")
    #expect(verdict.words?.contains("400") == true)
  }
}
