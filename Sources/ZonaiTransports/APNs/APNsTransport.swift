import Synchronization
import ZonaiCore
import ZonaiHTTP
import ZonaiThreads

/// Apple's push notification service over HTTP/2, with a provider token.
///
/// What it sends again by itself is only what the lane's credential held up, within the same call and once for each cure:
/// `ExpiredProviderToken` gets one new token over a new connection, unless the token is too young to have expired;
/// `InvalidProviderToken` gets the same token over a new connection, since it has been seen to heal. A token is never
/// minted because of `TooManyProviderTokenUpdates`. What was surely not handled comes back as such (`Verdict.Retry.free`);
/// repeating it is the engine's part, which counts.
public final class APNsTransport: Transport {
  public let lane: Lane
  /// What works and should not stay as it is, such as a key file that others may read.
  public let warnings: [SetupWarning]
  private let bundleId: String
  private let pool: HTTP2Pool
  private let path: ByteTemplate
  private let credentials: APNsCredentials
  private let waits: CredentialWaits
  private let environment: APNsEnvironmentCheck
  private let clock: TransportClock
  private let thread: ThreadExecutor
  /// The key that the pool's connections are bound to; empty before the first one.
  private let boundKey = Mutex("")

  /// Reads the key, and connects when there is something to send.
  public convenience init(_ configuration: APNsConfiguration, clock: TransportClock = .system) async throws(SetupError)
  {
    try await self.init(configuration, clock: clock, registry: .process)
  }

  /// With provider tokens of its own, as another process has them: for tests.
  init(
    _ configuration: APNsConfiguration, clock: TransportClock, registry: ProviderTokenRegistry
  ) async throws(SetupError) {
    let opened = try await APNsLane.open(configuration, clock: clock, registry: registry)
    lane = opened.lane
    warnings = opened.warnings
    credentials = opened.credentials
    thread = opened.thread
    bundleId = configuration.bundleId
    waits = CredentialWaits(for: "provider token", limit: configuration.requestTimeout)
    self.clock = clock
    let endpoint = configuration.effectiveEndpoint
    path = ByteTemplate(segments: [Array("\(endpoint.path)/3/device/".utf8), []])
    var options = HTTP2Options()
    options.caFile = configuration.caFile
    options.requestTimeout = configuration.requestTimeout
    options.maxConnections = max(1, configuration.connectionsPerLane)
    options.singleStreamUntilAccepted = true
    options.acceptedBody = APNsReader.acceptedBody
    options.keptFields = APNsReader.keptFields
    options.threadName = "zonai-apns"
    pool = try HTTP2Pool.opened(endpoint.origin, options, setting: "apns")
    environment = APNsEnvironmentCheck(configuration, credentials: credentials, waits: waits, clock: clock)
  }

  public func prepare(_ message: PushMessage) throws(MessageFault) -> PreparedMessage {
    try MessageRules.validate(message)
    let rendering = try APNsRendering(message, bundleId: bundleId)
    guard rendering.body.count <= rendering.limit else {
      throw MessageFault(
        field: "message",
        "the message takes \(rendering.body.count) bytes as APNs' JSON, which allows \(rendering.limit); "
          + "shorten its text or data")
    }
    return PreparedMessage(
      fingerprint: "\(lane.fingerprint) topic \(rendering.topic) type \(rendering.pushType.rawValue)",
      size: rendering.body.count, limit: rendering.limit, content: rendering,
      otherEnvironment: environment.reach(of: rendering.pushType))
  }

  public func send(
    _ batch: PushBatch, _ answered: @escaping @Sendable (AnswerChunk) -> Void
  ) async -> SendEnd {
    guard let rendering = batch.message.content as? APNsRendering else { return SendEnd(laneFault: .preparedElsewhere) }
    var ledger = SendLedger<APNsReader>(batch, transport: .apns, answered: answered)
    ledger.refuse { TokenShape.refusal($0, for: .apns) }
    let values = ByteColumn(bytes: batch.tokens.bytes, ends: batch.tokens.ends)
    let permit = HTTP2Permit(following: batch.permit)
    var cures = APNsCures()
    // Looked at before the token is: a token that is replaced after that goes over no newer connection.
    var generation = pool.generation
    var credential = await current(batch)
    while !ledger.pending.isEmpty {
      let current: APNsCredentials.Current
      switch credential {
      case .ready(let token): current = token
      case .refused(let refusal):
        ledger.stop(because: refusal.verdict)
        return ledger.end
      case .stopped: return ledger.end
      }
      guard let fields = fields(rendering, batch, current.authorization) else { break }
      generation = useConnections(for: current.key, since: generation)
      let request = RoundRequest(
        path: path, fields: fields, body: ByteTemplate(rendering.body), values: values, permit: permit,
        generation: generation)
      let left = await ledger.send(request, over: pool, credential: current.authorization.generation)
      // Further requests on a connection that says that it ends would only hear it again.
      if left.hasDyingConnection { pool.reconnect(since: generation) }
      guard let fault = left.credentialFault else {
        // Who was not opened without a fault of this batch waited for connections that another one had replaced.
        if !left.rest.isEmpty {
          generation = pool.generation
          credential = await self.current(batch)
        }
        ledger.sendNext(unopened: left.rest)
        continue
      }
      let cure = cures.next(for: fault)
      if cure == .none {
        ledger.giveUp(left.refused, because: fault, file: await credentials.problem)
        break
      }
      if left.isThrottled { break }
      if cure == .newToken {
        credential = await waits.wait(permit: batch.permit) { [credentials] in
          await credentials.current(afterExpiryOf: current)
        }
      }
      if cure == .newConnection { credential = await self.current(batch) }
      pool.reconnect(since: generation)
      generation = pool.generation
      ledger.sendNext(refused: left.refused, unopened: left.rest)
    }
    return ledger.end
  }

  public func check(_ batch: PushBatch) async -> [EnvironmentAnswer] { await environment.check(batch) }

  public func close() async {
    waits.close()
    await pool.close()
    await environment.close()
    thread.close()
  }

  private func current(_ batch: PushBatch) async -> AwaitedCredential<APNsCredentials.Current> {
    await waits.wait(permit: batch.permit, ready: await credentials.ready()) { [credentials] in
      await credentials.current()
    }
  }

  /// nil when nothing is left of the time to live.
  private func fields(
    _ rendering: APNsRendering, _ batch: PushBatch, _ authorization: Authorization
  ) -> [HTTPField]? {
    var fields = [HTTPField("authorization", authorization.field)]
    fields += rendering.headers.map { HTTPField($0.name, $0.value) }
    guard let timeToLive = rendering.timeToLive else { return fields }
    let now = batch.time(at: clock.monotonic()) ?? clock.wall()
    guard let left = TimeLeft(timeToLive: timeToLive, expiresAt: batch.expiresAt, now: now) else { return nil }
    fields.append(HTTPField("apns-expiration", String(left.endsAt)))
    return fields
  }

  /// The connections that the next requests go over. A connection is bound to the key of its first request, so another key
  /// gets new ones, unless they were replaced since the key was looked at.
  private func useConnections(for key: String, since generation: UInt64) -> UInt64 {
    boundKey.withLock { boundKey in
      guard boundKey != key, generation == pool.generation else { return generation }
      if !boundKey.isEmpty { pool.reconnect(since: generation) }
      boundKey = key
      return pool.generation
    }
  }
}
