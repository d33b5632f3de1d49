import Testing
import ZonaiHTTP
import ZonaiThreads

@Suite struct PoolTests {
  @Test func `each answer comes back to the request that it belongs to`() async throws {
    let server = try TestServer(
      ServerScript(react: { request in
        let token = request.path.split(separator: "/").last.map(String.init) ?? ""
        let number = Int(token.drop { !$0.isNumber }) ?? 0
        return .answer(number % 3 == 0 ? 200 : 400 + number % 3, body: token)
      }))
    let pool = try HTTP2Pool(origin: server.origin, options: .test(server))
    let result = await pool.send(.tokens(0..<50))
    #expect(result.failure == nil)
    for index in 0..<50 {
      #expect(result.outcomes[index] == .answered(index % 3 == 0 ? 200 : UInt16(400 + index % 3)))
      let body = result.answer(index).map { String(decoding: $0.body, as: UTF8.self) }
      #expect(body == (index % 3 == 0 ? nil : "token-\(index)"))
    }
    await pool.close()
    server.close()
  }
}
