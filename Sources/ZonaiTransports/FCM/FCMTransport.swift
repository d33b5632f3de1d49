import ZonaiCore
import ZonaiHTTP
import ZonaiThreads

/// Firebase Cloud Messaging by its HTTP v1 API.
///
/// What it sends again by itself is only what the lane's credential held up: when FCM refuses an access token, no further
/// request is opened, one new token is asked for, and who was refused or not reached is sent to with the new one, within
/// the same call. An answer that refuses it although a later one of the same token is a delivery renews nothing: it stands for
/// the engine to judge. What was surely not handled comes back as such (`Verdict.Retry.free`); repeating it is the engine's part,
/// which counts.
public final class FCMTransport: Transport {
  public let lane: Lane
  /// What works and should not stay as it is, such as a key file that others may read.
  public let warnings: [SetupWarning]
  private let pool: HTTP2Pool
  private let path: ByteTemplate
  private let tokens: AccessTokens
  private let waits: CredentialWaits
  private let clock: TransportClock
  private let thread: ThreadExecutor

  /// FCM's own limit of requests that are under way on one connection.
  private static let streamsPerConnection = 100

  /// Reads the service account, and connects when there is something to send.
  public init(_ configuration: FCMConfiguration, clock: TransportClock = .system) async throws(SetupError) {
    let opened = try await FCMLane.open(configuration, clock: clock)
    lane = opened.lane
    warnings = opened.warnings
    tokens = opened.tokens
    thread = opened.thread
    waits = CredentialWaits(for: "access token", limit: configuration.requestTimeout)
    self.clock = clock
    let endpoint = configuration.endpoint ?? FCMLane.google
    path = ByteTemplate(Array("\(endpoint.path)/v1/projects/\(opened.projectId)/messages:send".utf8))
    var options = HTTP2Options()
    options.caFile = configuration.caFile
    options.requestTimeout = configuration.requestTimeout
    options.maxConnections = max(1, configuration.connectionsPerLane)
    options.maxStreamsPerConnection = FCMTransport.streamsPerConnection
    // Google ends connections that ping it.
    options.pingAfterSilence = nil
    options.acceptedBody = FCMReader.acceptedBody
    options.keptFields = FCMReader.keptFields
    options.threadName = "zonai-fcm"
    pool = try HTTP2Pool.opened(endpoint.origin, options, setting: "fcm")
  }

  public func prepare(_ message: PushMessage) throws(MessageFault) -> PreparedMessage {
    try MessageRules.validate(message)
    let rendering = try FCMRendering(message)
    guard rendering.size <= FCMRendering.limit else {
      throw MessageFault(
        field: "message",
        "the message takes \(rendering.size) bytes of names and values on FCM, which allows \(FCMRendering.limit); "
          + "shorten its text or data")
    }
    return PreparedMessage(
      fingerprint: lane.fingerprint, size: rendering.size, limit: FCMRendering.limit, content: rendering)
  }

  public func send(
    _ batch: PushBatch, _ answered: @escaping @Sendable (AnswerChunk) -> Void
  ) async -> SendEnd {
    guard let rendering = batch.message.content as? FCMRendering else { return SendEnd(laneFault: .preparedElsewhere) }
    var ledger = SendLedger<FCMReader>(batch, transport: .fcm, answered: answered)
    ledger.refuse { TokenShape.refusal($0, for: .fcm) ?? TokenColumn.refusal($0) }
    let values = TokenColumn.escaped(batch.tokens)
    let permit = HTTP2Permit(following: batch.permit)
    var credential = await waits.wait(permit: batch.permit, ready: await tokens.ready()) { [tokens] in
      await tokens.current()
    }
    var hasRenewed = false
    while !ledger.pending.isEmpty {
      let authorization: Authorization
      switch credential {
      case .ready(let current): authorization = current
      case .refused(let refusal):
        ledger.stop(because: refusal.verdict)
        return ledger.end
      case .stopped: return ledger.end
      }
      guard let body = body(rendering, batch) else { break }
      let request = RoundRequest(
        path: path, fields: FCMTransport.fields(authorization), body: body, values: values, permit: permit)
      let connections = pool.generation
      let left = await ledger.send(request, over: pool, credential: authorization.generation)
      if left.hasDyingConnection { pool.reconnect(since: connections) }
      // Who was refused for an old token is sent to again even when the message is at fault: the fault is not theirs.
      guard let fault = left.credentialFault, !left.areRefusedOdd else {
        ledger.handOver(left.refused)
        ledger.sendNext(unopened: left.rest)
        continue
      }
      if hasRenewed {
        ledger.giveUp(left.refused, because: fault, file: await tokens.problem)
        break
      }
      if left.isThrottled { break }
      hasRenewed = true
      credential = await waits.wait(permit: batch.permit) { [tokens] in
        await tokens.current(afterRefusalOf: authorization.generation)
      }
      ledger.sendNext(refused: left.refused, unopened: left.rest)
    }
    return ledger.end
  }

  public func close() async {
    waits.close()
    await pool.close()
    thread.close()
  }

  /// nil when nothing is left of the time to live.
  private func body(_ rendering: FCMRendering, _ batch: PushBatch) -> ByteTemplate? {
    guard let timeToLive = rendering.timeToLive else { return rendering.template.filled(secondsLeft: 0, endsAt: 0) }
    let now = batch.time(at: clock.monotonic()) ?? clock.wall()
    guard let left = TimeLeft(timeToLive: timeToLive, expiresAt: batch.expiresAt, now: now) else { return nil }
    return rendering.template.filled(secondsLeft: left.seconds, endsAt: left.endsAt)
  }

  private static func fields(_ authorization: Authorization) -> [HTTPField] {
    [
      HTTPField("authorization", authorization.field), HTTPField("content-type", "application/json"),
      // Without it errors come without details, which are what decides.
      HTTPField("x-goog-api-format-version", "2"),
    ]
  }
}

extension HTTP2Pool {
  static func opened(
    _ origin: HTTPOrigin, _ options: HTTP2Options, setting: String
  ) throws(SetupError) -> HTTP2Pool {
    do {
      return try HTTP2Pool(origin: origin, options: options)
    } catch {
      throw SetupError(.outOfResources, setting: setting, "\(error)")
    }
  }
}

extension Verdict {
  /// A message that another transport prepared: the program's mistake.
  static var preparedElsewhere: Verdict {
    Verdict(
      .jobFails, fault: .message, reason: "preparedElsewhere",
      words: "the message was prepared by another transport than the one that is to send it", names: "message")
  }
}
