import Testing
import ZonaiJSON

/// Machines whose way out is an HTTP proxy, which the environment names.
struct ProxyTests {
  /// A scene whose configuration names Google's and Apple's own hosts, to which only the proxy
  /// leads.
  private struct Stage {
    let scene: Scene
    let proxy: ConnectProxy
    let words: [String]
    let environment: [String: String]

    init(refusal: @escaping @Sendable (Int) -> Int? = { _ in nil }) async throws {
      scene = try await Scene(devices: 6, ownSimulator: true)
      let folder = scene.simulator.directory
      func port(_ address: String) throws -> UInt16 {
        try #require(UInt16(address.split(separator: ":").last?.prefix { $0.isNumber } ?? ""))
      }
      let endpoints = scene.simulator.endpoints
      proxy = try ConnectProxy(
        routes: [
          "fcm.googleapis.com:443": try port(endpoints.fcm), "oauth2.googleapis.com:443": try port(endpoints.oauth),
          "api.push.apple.com:443": try port(endpoints.apns),
        ], refusal: refusal)
      var account = try JSON(parsing: try Folder.read("\(folder)/service-account.json")).object ?? [:]
      account["token_uri"] = "https://oauth2.googleapis.com/token"
      _ = try Folder.write("\(folder)/service-account.json", JSON.object(account).text)
      words = [
        "--store", scene.store, "--config", try scene.configuration(adding: ["retryBaseSeconds": 0.05]), "--ca-file",
        "\(folder)/ca.pem",
      ]
      environment = [
        "HTTPS_PROXY": "http://user:p%40ss@127.0.0.1:\(proxy.port)", "https_proxy": "", "NO_PROXY": "", "no_proxy": "",
      ]
    }

    func push() async throws -> Shell.Ending {
      let push = [
        "push", "--table", "devices", "--token-column", "token", "--platform-column", "platform", "--title", "Hello",
        "--wait", "--json",
      ]
      return try await Shell(push + words, environment: environment).end()
    }
  }

  @Test func `both services are reached through the proxy, with the user and password of its address`() async throws {
    let stage = try await Stage()
    let ending = try await stage.push()
    #expect(ending.code == 0, "\(ending.errors)")
    #expect(try ending.json["delivered"]?.integer == 6)
    #expect(
      Set(stage.proxy.connects) == [
        "fcm.googleapis.com:443", "oauth2.googleapis.com:443", "api.push.apple.com:443",
      ])
    // user:p@ss
    #expect(stage.proxy.authorizations == ["Basic dXNlcjpwQHNz"])
    stage.proxy.stop()
  }

  @Test(arguments: [407, 403])
  func `a proxy that refuses is a fault of the configuration, and is named without its password`(
    _ status: Int
  ) async throws {
    let stage = try await Stage(refusal: { _ in status })
    let ending = try await stage.push()
    #expect(ending.code == 1)
    let said = ending.output + ending.errors
    #expect(said.contains("the proxy 127.0.0.1:\(stage.proxy.port) answers \(status)"), "\(said)")
    #expect(!said.contains("p%40ss") && !said.contains("p@ss"))
    stage.proxy.stop()
  }

  @Test func `a proxy that is in trouble for a while is an outage that heals`() async throws {
    let stage = try await Stage(refusal: { $0 < 4 ? 503 : nil })
    let ending = try await stage.push()
    #expect(ending.code == 0, "\(ending.errors)")
    #expect(try ending.json["delivered"]?.integer == 6)
    stage.proxy.stop()
  }
}
