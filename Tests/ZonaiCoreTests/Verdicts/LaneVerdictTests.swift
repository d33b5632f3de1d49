import Testing

@testable import ZonaiCore

/// Answers that are about no device at all: the token endpoint's, and none.
struct LaneVerdictTests {
  typealias Case = VerdictCase<GoogleTokenAnswer>

  static func refusal(_ status: Int, _ error: String, _ description: String? = nil, _ expected: String) -> Case {
    Case(
      "\(status) \(error) \(description ?? "")",
      GoogleTokenAnswer(status: status, body: .service, error: error, errorDescription: description), expected)
  }

  @Test(arguments: [
    refusal(400, "invalid_grant", "Invalid JWT Signature.", "jobFails credentials - once"),
    refusal(400, "invalid_grant", "Token must be short-lived. Check your iat and exp", "jobFails credentials - once"),
    refusal(400, "invalid_grant", "Invalid grant: account not found", "jobFails credentials - once"),
    refusal(401, "deleted_client", "The OAuth client was deleted.", Kind.credentials),
    refusal(401, "invalid_client", nil, Kind.credentials),
    refusal(400, "invalid_scope", nil, Kind.credentials),
    refusal(400, "solar_flare", nil, Kind.service), refusal(403, "org_policy", nil, Kind.service),
    refusal(200, "invalid_grant", nil, Kind.service), refusal(408, "invalid_grant", nil, Kind.service),
    refusal(429, "invalid_grant", nil, Kind.service),
    refusal(503, "invalid_grant", nil, Kind.service),
    Case("a page", GoogleTokenAnswer(status: 404, body: .other), Kind.foreign),
    Case("200 of another server", GoogleTokenAnswer(status: 200, body: .other), Kind.foreign),
    Case("an empty 418", GoogleTokenAnswer(status: 418, body: .empty), Kind.service),
    Case("an empty 302", GoogleTokenAnswer(status: 302, body: .empty), Kind.service),
    Case("a page with 408", GoogleTokenAnswer(status: 408, body: .other), Kind.service),
    Case("an empty 421", GoogleTokenAnswer(status: 421, body: .empty), Kind.service),
    Case("an empty 502", GoogleTokenAnswer(status: 502, body: .empty), Kind.service),
  ])
  func `a refused grant is the credential's fault, an ailing endpoint the service's`(_ answer: Case) throws {
    let verdict = try #require(OAuthVerdicts.verdict(for: answer.answer))
    #expect(verdict.inShort == answer.expected)
  }

  @Test func `a granted token needs no verdict`() {
    #expect(OAuthVerdicts.verdict(for: GoogleTokenAnswer(status: 200, body: .service)) == nil)
  }

  @Test func `a wrong clock is named as such`() {
    let verdict = OAuthVerdicts.verdict(
      for: GoogleTokenAnswer(
        status: 400, body: .service, error: "invalid_grant", errorDescription: "Check your iat and exp values"))
    #expect(verdict?.names == "this machine's clock")
  }

  static let failures: [(ConnectionFailure, String, Bool)] = [
    (.timedOut, Kind.service, true), (.answerLost, Kind.service, true), (.notHandled, Kind.notHandled, false),
    (.cannotConnect, "transientlyFailed connection - attempts", false),
    (.nameNotResolved, "transientlyFailed connection - attempts", false),
    (.certificateNotTrusted, Kind.laneSetting, false), (.certificateNameWrong, Kind.laneSetting, false),
    (.http2NotSpoken, Kind.laneSetting, false),
  ]

  @Test(arguments: failures)
  func `a lost connection says whether the request may have been handled`(
    failure: ConnectionFailure, expected: String, answerMayBeLost: Bool
  ) {
    let verdict = ConnectionVerdicts.verdict(for: failure, on: .apns, words: "no route")
    #expect(verdict.inShort == expected)
    #expect(verdict.answerMayBeLost == answerMayBeLost)
    #expect(verdict.reason.rawValue == failure.rawValue)
    #expect(verdict.status == nil)
    #expect(verdict.words == "no route")
  }

  @Test func `every failure is in that table`() {
    #expect(Set(Self.failures.map(\.0)) == Set(ConnectionFailure.allCases))
  }
}
