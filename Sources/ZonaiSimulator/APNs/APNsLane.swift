import ZonaiHTTP

/// Apple's push service: reads requests, judges them, and moves the connection's stream limit.
struct APNsLane: Sendable {
  let world: World
  /// `apns`, or `apnsSandbox` on the port of the development environment.
  var lane = Lane.apns

  func serve(_ exchange: ServerExchange) {
    let connection = notes(of: exchange.connection)
    let token = Self.deviceToken(exchange.request.path)
    let fault = world.faults.strike(lane, token?.lowercased())
    if fault?.action == .streamLimit { connection.scriptedLimit = fault?.streams }
    let reply = judge(exchange.request, token: token, connection)
    // Apple takes streams away after a rejection and gives them back after a valid token. A 410 is no rejection to it, and one
    // that was not scripted comes after the token was judged.
    let status = fault?.response?.status ?? reply.response.status
    if status == 200 || status == 410 && fault?.response == nil {
      limitStreams(of: exchange.connection, connection, to: world.options.apnsStreamLimit)
    } else if (400..<500).contains(status), status != 410 {
      limitStreams(of: exchange.connection, connection, to: 1)
    }
    Desk(world: world, lane: lane).settle(exchange, token: token?.lowercased(), reply: reply, fault: fault)
  }

  private func notes(of connection: ServerConnection) -> APNsConnection {
    if let notes = connection.notes as? APNsConnection { return notes }
    let notes = APNsConnection()
    connection.notes = notes
    world.tally.connected(lane)
    return notes
  }

  private func limitStreams(of connection: ServerConnection, _ notes: APNsConnection, to limit: UInt32) {
    guard notes.scriptedLimit == nil, notes.streamLimit != limit else { return }
    notes.streamLimit = limit
    connection.limitStreams(to: limit)
  }

  private func judge(_ request: ServerRequest, token: String?, _ connection: APNsConnection) -> Reply {
    let id = request.header("apns-id").flatMap { APNsPush.isUUID($0) ? $0 : nil } ?? RandomBytes.uuid()
    let isSandbox = lane == .apnsSandbox || Self.isSandbox(request.authority)
    do throws(APNsRefusal) {
      try checkPath(request, token)
      try checkCredential(request, isSandbox: isSandbox, connection)
      _ = try APNsPush(request, bundleID: world.apple.bundleID)
      try checkDevice(token ?? "", isSandbox: isSandbox)
    } catch {
      return error.reply(id: id)
    }
    var headers = [ServerHeader("apns-id", id)]
    if isSandbox { headers.append(ServerHeader("apns-unique-id", RandomBytes.uuid())) }
    return Reply(response: ServerResponse(status: 200, headers: headers), label: "200", delivers: true)
  }

  private func checkPath(_ request: ServerRequest, _ token: String?) throws(APNsRefusal) {
    guard let token else { throw APNsRefusal(.badPath) }
    guard request.method == "POST" else { throw APNsRefusal(.methodNotAllowed) }
    guard !token.isEmpty else { throw APNsRefusal(.missingDeviceToken) }
  }

  private func checkCredential(
    _ request: ServerRequest, isSandbox: Bool, _ connection: APNsConnection
  ) throws(APNsRefusal) {
    guard let authorization = request.header("authorization") else { throw APNsRefusal(.missingProviderToken) }
    guard !connection.isExpired else { throw APNsRefusal(.expiredProviderToken) }
    if connection.token?.text != authorization {
      guard let token = ProviderToken(authorization: authorization, team: world.apple) else {
        throw APNsRefusal(.invalidProviderToken)
      }
      connection.token = token
    }
    guard let token = connection.token, let key = world.apple.keys[token.keyID], !key.isRevoked else {
      throw APNsRefusal(.invalidProviderToken)
    }
    let now = world.clock.seconds
    guard abs(now - token.issuedAt) <= world.apple.tokenSeconds else {
      connection.isExpired = true
      throw APNsRefusal(.expiredProviderToken)
    }
    if let binding = connection.binding, binding != (token.teamID, token.keyID) { throw APNsRefusal(.unrelatedKeyId) }
    guard key.environment == .both || key.environment == (isSandbox ? .sandbox : .production) else {
      throw APNsRefusal(.badEnvironmentKey)
    }
    guard world.apple.admit(token.text, now: now) else { throw APNsRefusal(.tooManyProviderTokenUpdates) }
    connection.binding = (token.teamID, token.keyID)
  }

  private func checkDevice(_ token: String, isSandbox: Bool) throws(APNsRefusal) {
    guard DeviceRegistry.isAPNsToken(token) else { throw APNsRefusal(.badDeviceToken) }
    guard let device = world.devices[.apns, token] else { return }
    // A registered device belongs to production, or to the sandbox when its state is `otherEnvironment`.
    guard (device.state == .otherEnvironment) == isSandbox else { throw APNsRefusal(.badDeviceToken) }
    switch device.state {
    case .uninstalled: throw APNsRefusal(.unregistered, timestamp: device.since)
    case .expired: throw APNsRefusal(.expiredToken, timestamp: device.since)
    case .throttled: throw APNsRefusal(.tooManyRequests, retryAfterSeconds: device.retryAfterSeconds)
    case .otherTopic: throw APNsRefusal(.deviceTokenNotForTopic)
    case .unknown: throw APNsRefusal(.badDeviceToken)
    case .active, .otherEnvironment, .otherProject: return
    }
  }

  /// The token in `/3/device/<token>`; empty when it is missing, nil for any other path.
  static func deviceToken(_ path: Substring) -> String? {
    let prefix = "/3/device/"
    if path == prefix.dropLast() { return "" }
    guard path.hasPrefix(prefix) else { return nil }
    let token = path.dropFirst(prefix.count)
    return token.contains("/") ? nil : String(token)
  }

  /// Apple's development environment goes by its host's names; any other name is production.
  static func isSandbox(_ authority: String) -> Bool {
    let host = authority.prefix { $0 != ":" }.lowercased()
    return host == "api.sandbox.push.apple.com" || host == "api.development.push.apple.com"
  }
}
