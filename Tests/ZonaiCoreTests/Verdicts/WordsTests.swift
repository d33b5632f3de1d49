import Testing

@testable import ZonaiCore

struct WordsTests {
  @Test(arguments: [
    ("plain words", "plain words"), ("two\nlines\t\u{0}", "two lines  "), ("", ""),
    ("TooManyProviderTokenUpdates", "TooManyProviderTokenUpdates"),
    ("got \(String(repeating: "ab", count: 32))!", "got ababab…!"),
    ("'abc:APA91b\(String(repeating: "x", count: 140))'", "'abc:AP…'"), ("späte Öffnung", "späte Öffnung"),
  ])
  func `a service's words become one short line without a token`(text: String, expected: String) {
    #expect(ServiceWords.shortened(text) == expected)
  }

  @Test func `a token that is known is cut out whatever it looks like`() {
    #expect(ServiceWords.shortened("no a'b, no a'b", hiding: ArraySlice("a'b".utf8)) == "no …, no …")
    #expect(ServiceWords.shortened("no token", hiding: []) == "no token")
  }

  private static let token = "cXs0P2tUQWl5:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx"

  @Test(arguments: [
    ("whole: \(token).", "whole: …."), ("begins \(token.prefix(12))", "begins …"),
    ("ends \(token.suffix(7))!", "ends …!"),
    ("six of it: \(token.prefix(6))", "six of it: cXs0P2"), ("case \(token.uppercased())", "case …"),
    ("path /cXs0P2tUQWl5%3AAPA91bHun4MxP5egoKMwt2/x", "path /…/x"),
    ("%63%58%73%30%50%32%74%55%51%57%6c%35", "…"), ("Y1hzMFAydFVRV2w1OkFQQTkxYkh1bjRNeFA1ZWdvS013", "…"),
    ("hex 6358733050327455 5157", "hex … 5157"), ("Requested entity was not found.", "Requested entity was not found."),
  ])
  func `a token that is known is cut out in pieces and encodings`(text: String, expected: String) {
    #expect(ServiceWords.shortened(text, hiding: ArraySlice(Self.token.utf8)) == expected)
  }

  private static let other = "f0e1d2c3b4a59687KQwZxT_9-Ys7Lm2P"

  @Test(arguments: [
    ("no \(other) here", "no … here"), ("no \(other.uppercased())!", "no …!"), ("x\(other)x", "x…x"),
    ("\(other.prefix(16)) and \(other.dropFirst(16))", "… and …"), ("(\(other.dropFirst(5).prefix(8)))", "(…)"),
    ("f0e1d2 stays", "f0e1d2 stays"), ("nothing of it", "nothing of it"), ("", ""),
  ])
  func `a part of a known token is cut out, in either case`(text: String, expected: String) {
    #expect(ServiceWords.shortened(text, hiding: ArraySlice(Self.other.utf8)) == expected)
  }

  @Test(arguments: [
    ("row 42 of 4242, x42, 42", "row … of 4242, x42, …"), ("42", "…"), ("no row", "no row"),
  ])
  func `a short key is cut out where it is a word of its own`(text: String, expected: String) {
    #expect(ServiceWords.shortened(text, hidingAll: [ArraySlice("42".utf8)]) == expected)
  }

  @Test(arguments: [
    // Half a token of APNs, a piece of one of FCM: they are not named as tokens.
    ("is \(String(repeating: "0a", count: 16))?", "is 0a0a0a…?"),
    ("is c1D2e3F4g5H6i7J8k9L0m?", "is c1D2e3…?"),
    ("constraint fk_device_tokens_user_id_fk1", "constraint fk_device_tokens_user_id_fk1"),
    ("BadCertificateEnvironment", "BadCertificateEnvironment"),
  ])
  func `what looks like a part of a token is cut`(text: String, expected: String) {
    #expect(ServiceWords.shortened(text) == expected)
  }

  @Test func `a store's error holds no token that the database quotes`() {
    let error = StoreError(.refused, "refused", databaseWords: "row \(String(repeating: "4f", count: 32)) is guarded")
    #expect("\(error)" == "refused: refused (row 4f4f4f… is guarded)")
  }

  @Test func `long words are cut`() {
    let text = String(repeating: "word ", count: 1000)
    #expect(ServiceWords.shortened(text).count == ServiceWords.limit)
  }

  static let explained: [Verdict] =
    FCMVerdicts.rows.map(\.verdict) + FCMVerdicts.apnsErrorRows.map(\.verdict) + APNsVerdicts.rows.map(\.verdict)
    + OAuthVerdicts.rows.map(\.verdict)
    + ConnectionFailure.allCases.map { ConnectionVerdicts.verdict(for: $0, on: .fcm) }

  @Test func `every verdict is explained in two sentences that agree with it`() {
    for verdict in Self.explained {
      let explanation = Explanation(verdict)
      #expect(explanation.row.hasSuffix(".") && explanation.why.hasSuffix("."))
      #expect(!explanation.row.contains(". ") && !explanation.why.contains(". "), "\(explanation)")
      if verdict.outcome != .permanentlyRejected { #expect(explanation.row.hasPrefix("The row is kept")) }
      if let names = verdict.names, verdict.outcome == .jobFails { #expect(explanation.why.contains(names)) }
    }
  }

  @Test func `an explanation tells what a witness would change`() {
    let bad = APNsVerdicts.verdict(for: APNsAnswer(status: 400, body: .service, reason: "BadDeviceToken"))
    #expect(Explanation(bad).row.contains("With a witness") && Explanation(bad).row.contains("without one"))
    #expect(Explanation(bad).why.contains("apns.useSandbox"))
    #expect(Explanation(bad.withoutWitness).row.contains("kept"))
    #expect(Explanation(bad.withoutWitness).why.contains("no witness"))
    let dead = APNsVerdicts.verdict(
      for: APNsAnswer(status: 410, body: .service, reason: "Unregistered", timestamp: 1_767_323_045_000))
    #expect(!Explanation(dead).row.contains("witness"))
    #expect(Explanation(dead.consideringLastSeen(nil)).why.contains("registered"))
  }
}
