import Testing
import ZonaiCore

@testable import ZonaiTransports

/// Where a service account's `token_uri` may lead: to Google, and in tests to this machine.
@Suite struct TokenURITests {
  private static let google = Endpoint(host: "oauth2.googleapis.com", path: "/token")

  private func target(_ tokenURI: String, override: Endpoint? = nil) throws(SetupError) -> TokenEndpoint.Target {
    try TokenEndpoint.Target(tokenURI: tokenURI, override: override, setting: "fcm.serviceAccount")
  }

  @Test func `Google's present addresses are asked as they are`() throws {
    #expect(try target("https://oauth2.googleapis.com/token").endpoint == Self.google)
    let older = try target("https://www.googleapis.com/oauth2/v4/token")
    #expect(older.endpoint == Endpoint(host: "www.googleapis.com", path: "/oauth2/v4/token"))
    #expect(older.audience == "https://www.googleapis.com/oauth2/v4/token")
  }

  @Test func `the address in old service accounts is Google's, and the present one is asked instead`() throws {
    let old = try target("https://accounts.google.com/o/oauth2/token")
    #expect(old.endpoint == Self.google)
    #expect(old.audience == "https://oauth2.googleapis.com/token")
  }

  @Test(arguments: [
    "https://accounts.google.com/o/oauth2/token/", "https://accounts.google.com/o/oauth2/auth",
    "https://accounts.google.com/", "https://accounts.google.com:8443/o/oauth2/token",
    "https://accounts.google.com.example.com/o/oauth2/token", "https://accounts-google.com/o/oauth2/token",
    "https://google.com/o/oauth2/token", "http://accounts.google.com/o/oauth2/token",
    "https://accounts.google.com@example.com/o/oauth2/token", "https://example.com/https://accounts.google.com/",
    "https://ACCOUNTS.GOOGLE.COM/o/oauth2/token", "https://evilgoogleapis.com/token", "https://example.com/token",
    "https://oauth2.googleapis.com:444/token", "https://127.0.0.1.example.com/token", "https://10.0.0.1/token",
  ])
  func `what only looks like Google's is refused, with an override too`(_ tokenURI: String) {
    #expect(throws: SetupError.self) { try target(tokenURI) }
    #expect(throws: SetupError.self) { try target(tokenURI, override: Endpoint(host: "127.0.0.1", port: 9)) }
  }

  @Test(arguments: ["https://127.0.0.1:8443/token", "https://localhost:8443/token", "https://[::1]:8443/token"])
  func `a simulator's address is the audience where the endpoint is overridden, and refused elsewhere`(
    _ tokenURI: String
  ) throws {
    let simulated = try target(tokenURI, override: Endpoint(host: "127.0.0.1", port: 9))
    #expect(simulated.audience == tokenURI)
    #expect(simulated.endpoint == Endpoint(host: "127.0.0.1", port: 9, path: "/token"))
    let error = #expect(throws: SetupError.self) { try target(tokenURI) }
    #expect(error?.sentence.contains("--simulator") == true)
  }

  @Test(arguments: [
    ("localhost", true), ("127.0.0.1", true), ("127.255.0.9", true), ("::1", true), ("127.1", false),
    ("127.0.0.256", false), ("127.0.0.01", false), ("127.0.0.1.2", false), ("127.0.0.", false), ("127.0.0.1a", false),
    ("128.0.0.1", false), ("127.0.0.\u{0661}", false), ("localhost.example.com", false), ("::2", false), ("", false),
  ])
  func `loopback is told from what looks like it`(_ host: String, _ isLoopback: Bool) {
    #expect(Endpoint(host: host).isLoopback == isLoopback)
  }
}
