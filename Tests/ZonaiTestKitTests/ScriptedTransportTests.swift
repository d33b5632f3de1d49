import Testing
import ZonaiCore
import ZonaiTestKit

@Suite struct ScriptedTransportTests {
  @Test(arguments: TransportConformance<ScriptedFixture>.checks)
  func `the scripted transport does what every transport must`(_ check: Check<ScriptedFixture>) async throws {
    try await check(ScriptedFixture())
  }

  @Test func `answers are given in the order in which they were written`() async throws {
    let transport = ScriptedTransport()
    transport.answer("one", with: .dead)
    transport.answer("one", with: .serviceAway(), times: 2)
    let verdicts = try await (0..<4).asyncMap { _ in try await send(to: ["one"], over: transport)[0] }
    #expect(verdicts == [.dead, .serviceAway(), .serviceAway(), nil])
    #expect(transport.sent.count == 4)
  }

  @Test func `a lane that is broken sends nothing until it is mended`() async throws {
    let transport = ScriptedTransport()
    transport.breakLane(.credentialsRefused)
    _ = try await send(to: ["one"], over: transport)
    #expect(transport.sent.isEmpty)
    transport.breakLane(nil)
    _ = try await send(to: ["one"], over: transport)
    #expect(transport.sent.map(\.token) == [DeviceToken("one")])
  }

  private func send(to tokens: [String], over transport: ScriptedTransport) async throws -> [Verdict?] {
    let batch = PushBatch(
      message: try transport.prepare(PushMessage(title: "news")), tokens: TokenList(tokens),
      selection: Array(tokens.indices), expiresAt: nil, permit: SendPermit(validUntil: .max))
    return await transport.collect(batch).answers.map { answer in
      if case .answered(let verdict, _) = answer { verdict } else { nil }
    }
  }
}

extension Sequence {
  fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
