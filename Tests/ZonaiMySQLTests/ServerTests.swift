import Testing
import ZonaiTestServers

@Suite struct PrivateServerTests {
  @Test func `a private server keeps its address when it is started again`() async throws {
    let server = try await PrivateServer(.mariadb)
    let url = server.url
    #expect(url.hasPrefix("mysql://"))
    try await server.kill()
    try await server.start()
    #expect(server.url == url)
  }
}
