import ZonaiHTTP
import ZonaiJSON
import ZonaiThreads

/// A local FCM, OAuth endpoint and APNs with real TLS, and a control port, all on 127.0.0.1.
///
/// Making one takes the ports and writes `ca.pem`, `service-account.json`, `AuthKey_….p8` and `zonai.json` into a folder;
/// `start` begins to serve and writes, last, `simulator.json`. Keys and certificates are made anew each time, and
/// the simulator keeps the public halves only.
public final class Simulator: Sendable {
  /// The base URLs.
  public let endpoints: SimulatorEndpoints
  /// The folder with the files.
  public let directory: String
  private let world: World
  private let folder: SimulatorFolder
  private let server: HTTPServer

  /// Makes keys, which takes a moment, on a thread of its own.
  public convenience init(directory: String, options: SimulatorOptions = SimulatorOptions()) async throws {
    let parts = try await withCheckedThrowingContinuation { continuation in
      do {
        _ = try NamedThread(name: "zonai-keys") {
          continuation.resume(with: Result { try SimulatorParts(directory: directory, options: options) })
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
    self.init(parts)
  }

  private init(_ parts: SimulatorParts) {
    world = parts.world
    folder = parts.world.folder
    server = parts.server
    endpoints = parts.world.endpoints
    directory = parts.world.folder.path
  }

  /// Serves, and says so in `simulator.json`.
  public func start() throws {
    try server.start()
    try folder.writeEndpoints(endpoints)
  }

  /// Closes all connections and ports, and takes `simulator.json` away. The other files stay for a look.
  public func stop() async {
    folder.remove("simulator.json")
    await server.stop()
    folder.release()
  }

  /// What the control port does, without a connection: `try await simulator.control("PUT", "/devices/abc", ["state":
  /// "uninstalled"])`. Throws when the control refuses.
  @discardableResult
  public func control(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> JSON {
    try await withCheckedThrowingContinuation { continuation in
      let world = world
      let isRunning = server.perform {
        var request = ServerRequest()
        request.method = method
        request.target = path
        request.body = body?.bytes ?? []
        let response = ControlLane(world: world).response(to: request)
        continuation.resume(
          with: Result {
            let json = try JSON(parsing: response.body)
            guard response.status < 300 else {
              throw SimulatorError(.request, json["error"]?["message"]?.string ?? "the control refused")
            }
            return json
          })
      }
      if !isRunning { continuation.resume(throwing: SimulatorError(.stopped, "the simulator was stopped")) }
    }
  }
}

/// What a simulator is put together from, off the cooperative pool.
private struct SimulatorParts: Sendable {
  let world: World
  let server: HTTPServer

  init(directory: String, options: SimulatorOptions) throws {
    try options.check()
    let folder = try SimulatorFolder(directory)
    let (rsa, p256) = (try KeyPair(.rsa), try KeyPair(.p256))
    let google = GoogleAccount(
      projectID: options.projectID, keyID: RandomBytes.hex(20), publicKey: rsa.publicKey)
    let apple = AppleTeam(
      teamID: options.teamID, bundleID: options.bundleID, keyID: RandomBytes.keyID(), publicKey: p256.publicKey)
    let authority = try CertificateAuthority(commonName: "Zonai simulator CA")
    let identity = try authority.issue(
      names: [
        "localhost", "fcm.googleapis.com", "oauth2.googleapis.com", "www.googleapis.com", "api.push.apple.com",
        "api.sandbox.push.apple.com", "api.development.push.apple.com",
      ], addresses: ["127.0.0.1"])
    let world = World(options: options, folder: folder, google: google, apple: apple)
    server = try HTTPServer(Self.services(world, identity))
    world.endpoints = SimulatorEndpoints(
      fcm: "https://127.0.0.1:\(server.ports[0])", oauth: "https://127.0.0.1:\(server.ports[1])",
      apns: "https://127.0.0.1:\(server.ports[2])", apnsSandbox: "https://127.0.0.1:\(server.ports[3])",
      control: "http://127.0.0.1:\(server.ports[4])")
    self.world = world
    try folder.write("ca.pem", authority.certificatePEM)
    try folder.writeServiceAccount(google, endpoints: world.endpoints, privatePEM: rsa.privatePEM)
    try folder.writeProviderKey(apple.currentKeyID, privatePEM: p256.privatePEM)
    try folder.writeConfiguration(google, apple)
  }

  private static func services(_ world: World, _ identity: ServerIdentity) -> [ServerService] {
    [
      ServerService(
        name: "fcm", port: world.options.fcmPort, protocols: .either, identity: identity,
        streamLimit: world.options.fcmStreamLimit, connections: { world.tally.changeOpen(.fcm, by: $0) },
        handler: FCMLane(world: world).serve),
      ServerService(
        name: "oauth", port: world.options.oauthPort, protocols: .either, identity: identity,
        connections: { world.tally.changeOpen(.oauth, by: $0) },
        handler: OAuthLane(world: world).serve),
      // One stream until a valid token has passed.
      ServerService(
        name: "apns", port: world.options.apnsPort, protocols: .http2, identity: identity, streamLimit: 1,
        connections: { world.tally.changeOpen(.apns, by: $0) }, handler: APNsLane(world: world).serve),
      ServerService(
        name: "apns-sandbox", port: world.options.apnsSandboxPort, protocols: .http2, identity: identity,
        streamLimit: 1,
        handler: APNsLane(world: world, lane: .apnsSandbox).serve),
      ServerService(
        name: "control", port: world.options.controlPort, protocols: .http1, bodyLimit: 64 << 20,
        handler: ControlLane(world: world).serve),
    ]
  }
}

extension SimulatorOptions {
  /// Names end up in URLs, topics and file names.
  fileprivate func check() throws(SimulatorError) {
    for (name, value) in [("project id", projectID), ("team id", teamID), ("bundle id", bundleID)] {
      let isPlain = value.utf8.allSatisfy { byte in
        Character(Unicode.Scalar(byte)).isLetter && byte < 0x80 || byte == 0x2D || byte == 0x2E
          || (0x30...0x39).contains(byte)
      }
      guard isPlain, !value.isEmpty else {
        throw SimulatorError(.option, "the \(name) consists of letters, digits, '-' and '.'; \"\(value)\" does not")
      }
    }
    guard apnsStreamLimit > 0, fcmStreamLimit > 0 else {
      throw SimulatorError(.option, "a stream limit of 0 would let nobody send; choose at least 1")
    }
  }
}
