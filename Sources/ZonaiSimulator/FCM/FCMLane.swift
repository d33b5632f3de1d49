import ZonaiHTTP
import ZonaiJSON

/// Firebase Cloud Messaging's send method.
struct FCMLane: Sendable {
  let world: World

  func serve(_ exchange: ServerExchange) {
    if exchange.connection.notes == nil {
      exchange.connection.notes = LaneVisit.shared
      world.tally.connected(.fcm)
    }
    let request = exchange.request
    let body = Result { () throws(JSONError) in try JSON(parsing: request.body) }
    let token = FCMMessage.token(try? body.get())
    let fault = world.faults.strike(.fcm, token)
    Desk(world: world, lane: .fcm).settle(exchange, token: token, reply: reply(request, body), fault: fault)
  }

  private func reply(_ request: ServerRequest, _ body: Result<JSON, JSONError>) -> Reply {
    guard request.method == "POST", let project = Self.project(request.path) else {
      return GoogleAnswer.page(404, at: world.clock)
    }
    do throws(FCMRefusal) {
      try checkCredential(request, project: project)
      let message = try message(request, body)
      try checkDevice(message)
      let id = message.isDryRun ? "fake_message_id" : "0:\(world.clock.now)%\(RandomBytes.hex(8))"
      return GoogleAnswer.json(
        200, ["name": .string("projects/\(world.google.projectID)/messages/\(id)")], label: "200",
        delivers: !message.isDryRun, at: world.clock)
    } catch {
      return error.reply(at: world.clock, isOldForm: !Self.asksForDetails(request))
    }
  }

  /// Whether errors are to have Google's second form, which is the one with details.
  private static func asksForDetails(_ request: ServerRequest) -> Bool {
    request.header("x-goog-api-format-version") == "2" || FormFields.parse(Array(request.query.utf8))["$.xgafv"] == "2"
  }

  private func checkCredential(_ request: ServerRequest, project: String) throws(FCMRefusal) {
    let words = (request.header("authorization") ?? "").split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].lowercased() == "bearer" else {
      throw .unauthenticated(reason: "CREDENTIALS_MISSING", isMissing: true)
    }
    guard let token = world.google.accessTokens[String(words[1])] else { throw .unauthenticated(reason: nil) }
    guard token.expiresAt > world.clock.seconds else { throw .unauthenticated(reason: "ACCESS_TOKEN_EXPIRED") }
    guard token.scopes.contains(GoogleAccount.messagingScope) || token.scopes.contains(GoogleAccount.platformScope)
    else { throw .insufficientScope() }
    guard project == world.google.projectID || project == world.google.projectNumber else {
      throw .permissionDenied(project: project)
    }
  }

  private func message(_ request: ServerRequest, _ body: Result<JSON, JSONError>) throws(FCMRefusal) -> FCMMessage {
    guard !request.isBodyTooLarge else { throw .tooBig() }
    if let type = request.header("content-type"), !type.lowercased().hasPrefix("application/json") {
      throw FCMRefusal(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")
    }
    switch body {
    case .success(let json): return try FCMMessage(json, schema: world.fcmSchema)
    case .failure(let error):
      throw .shape("Invalid JSON payload received. \(error.description)", field: nil)
    }
  }

  private func checkDevice(_ message: FCMMessage) throws(FCMRefusal) {
    guard case .token(let token) = message.target else { return }
    guard DeviceRegistry.isFCMToken(token) else { throw .malformedToken }
    guard let device = world.devices[.fcm, token] else { return }
    switch device.state {
    case .uninstalled, .expired: throw .unregistered
    case .otherProject: throw .otherSender
    case .throttled: throw .throttled(device)
    case .active, .otherTopic, .otherEnvironment, .unknown: return
    }
  }

  /// The project in `/v1/projects/<project>/messages:send`.
  static func project(_ path: Substring) -> String? {
    let pieces = path.split(separator: "/", omittingEmptySubsequences: false)
    guard pieces.count == 5, pieces[0].isEmpty, pieces[1] == "v1", pieces[2] == "projects", !pieces[3].isEmpty,
      FormFields.decode(pieces[4].utf8) == "messages:send"
    else { return nil }
    return String(pieces[3])
  }
}
