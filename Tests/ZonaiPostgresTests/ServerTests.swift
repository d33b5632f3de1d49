import Testing
import ZonaiTestServers

@Suite struct PrivateServerTests {
  @Test func `a private server keeps its address when it is started again`() async throws {
    let server = try await PrivateServer(.postgres)
    let url = server.url
    #expect(url.hasPrefix("postgres://"))
    try await server.kill()
    try await server.start()
    #expect(server.url == url)
  }
}
