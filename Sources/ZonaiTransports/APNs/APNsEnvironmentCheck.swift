import Synchronization
import ZonaiCore
import ZonaiHTTP

/// Asks Apple's other environment about tokens that this one calls bad.
///
/// A push with an empty `aps` and no storing shows nothing on the device (parse-server #6106,
/// node-apn #241). It goes over a connection of its own, 8 at a time, behind a breaker of its own:
/// a key that is good in one environment only is refused there, and must not be tried over and
/// over.
/// https://developer.apple.com/forums/thread/807380
final class APNsEnvironmentCheck: Sendable {
  private enum Connections {
    /// Most lanes never ask; their thread is never started.
    case unopened
    case open(HTTP2Pool, key: String)
    case closed
  }

  private let endpoint: Endpoint?
  private let isAsserted: Bool
  /// "sandbox" or "production".
  private let name: String
  private let topic: String
  private let options: HTTP2Options
  private let credentials: APNsCredentials
  private let waits: CredentialWaits
  private let clock: TransportClock
  private let connections = Mutex(Connections.unopened)
  private let breaker = Mutex(CheckBreaker())

  init(
    _ configuration: APNsConfiguration, credentials: APNsCredentials, waits: CredentialWaits, clock: TransportClock
  ) {
    endpoint = configuration.effectiveOtherEndpoint
    isAsserted = configuration.allTokensAreOfThisEnvironment
    name = configuration.useSandbox ? "production" : "sandbox"
    topic = configuration.bundleId
    self.credentials = credentials
    self.waits = waits
    self.clock = clock
    var options = HTTP2Options()
    options.caFile = configuration.caFile
    options.requestTimeout = configuration.requestTimeout
    options.maxConnections = 1
    options.maxStreamsPerConnection = 8
    options.singleStreamUntilAccepted = true
    options.acceptedBody = APNsReader.acceptedBody
    options.keptFields = APNsReader.keptFields
    options.threadName = "zonai-apns-env"
    self.options = options
  }

  /// Whether tokens that were sent to with this push type can be asked about. An alert that shows
  /// nothing is harmless; after a VoIP push that reports no call, iOS stops delivering to the app,
  /// and other topics have tokens of their own.
  func reach(of pushType: PushType) -> OtherEnvironment {
    if isAsserted { return .none }
    guard pushType.topicSuffix == "" else {
      return .cannotBeAsked("tokens of the push type \(pushType.rawValue) cannot be asked about in another environment")
    }
    guard endpoint != nil else { return .cannotBeAsked("the endpoint of the \(name) environment is not known") }
    return .canBeAsked
  }

  func check(_ batch: PushBatch) async -> [EnvironmentAnswer] {
    func all(_ answer: EnvironmentAnswer) -> [EnvironmentAnswer] { Array(repeating: answer, count: batch.count) }
    let current: APNsCredentials.Current
    let awaited = await waits.wait(permit: batch.permit, ready: await credentials.ready()) { [credentials] in
      await credentials.current()
    }
    switch awaited {
    case .ready(let token): current = token
    case .stopped: return all(.notAsked)
    case .refused: return all(.undecided("there is no provider token to ask the \(name) environment with"))
    }
    if let cause = breaker.withLock({ $0.cause(key: current.key, now: clock.monotonic()) }) {
      return all(.undecided(cause))
    }
    guard let endpoint, let pool = pool(for: current.key, endpoint) else {
      return all(.undecided("the \(name) environment cannot be reached"))
    }
    let request = RoundRequest(
      path: ByteTemplate(segments: [Array("\(endpoint.path)/3/device/".utf8), []]),
      fields: [
        HTTPField("authorization", current.authorization.field), HTTPField("apns-topic", topic),
        HTTPField("apns-push-type", "alert"), HTTPField("apns-priority", "5"), HTTPField("apns-expiration", "0"),
      ], body: ByteTemplate(Array(#"{"aps":{}}"#.utf8)),
      values: ByteColumn(bytes: batch.tokens.bytes, ends: batch.tokens.ends),
      permit: HTTP2Permit(following: batch.permit))
    var answers = all(.notAsked)
    var pending = Array(0..<batch.count)
    // Apple takes streams away after a rejection and refuses those that are under way: they were
    // not handled, and are sent again as long as others are answered.
    while !pending.isEmpty {
      let result = await pool.send(
        request.batch(pending.map { batch.selection[$0] }, of: batch, reader: APNsReader.self))
      let left = pending.filter { place in
        if case .notHandled = result.outcomes[batch.selection[place]] { true } else { false }
      }
      for place in pending {
        let (answer, sign) = read(result, batch.selection[place], batch)
        answers[place] = answer
        breaker.withLock { $0.note(sign, key: current.key, now: clock.monotonic()) }
      }
      guard left.count < pending.count else { break }
      pending = left
    }
    return answers
  }

  func close() async {
    let open = connections.withLock { connections in
      defer { connections = .closed }
      return connections
    }
    if case .open(let pool, _) = open { await pool.close() }
  }

  /// The connection, which is bound to the key of its first request.
  private func pool(for key: String, _ endpoint: Endpoint) -> HTTP2Pool? {
    connections.withLock { connections in
      switch connections {
      case .closed: return nil
      case .unopened:
        guard let pool = try? HTTP2Pool(origin: endpoint.origin, options: options) else { return nil }
        connections = .open(pool, key: key)
        return pool
      case .open(let pool, let bound):
        if bound != key {
          pool.reconnect()
          connections = .open(pool, key: key)
        }
        return pool
      }
    }
  }

  private func read(
    _ result: HTTP2BatchResult, _ index: Int, _ batch: PushBatch
  ) -> (EnvironmentAnswer, CheckBreaker.Sign) {
    switch result.outcomes[index] {
    case .answered(200) where result.answer(index) == nil: return (alive, .good)
    case .answered(let status):
      let answer = result.answer(index)
      let verdict = APNsReader.verdict(
        status: Int(status), body: answer?.body ?? [], field: { answer?[$0] }, token: batch.tokens[index])
      if verdict.outcome == .delivered { return (alive, .good) }
      if verdict.evidence == .aboutLane { return (.unknownThere, .good) }
      // An unknown reason is the service's own word, of which there may be any number.
      let said = verdict.fault == .unknown ? "\(status)" : "\(status) \(verdict.reason.rawValue)"
      let words = "the \(name) environment answers \(said)"
      switch verdict.fault {
      case .credentials: return (.undecided(words), .refused(words))
      case .service, .connection: return (.undecided(words), .failed(words))
      default: return (.undecided(words), .good)
      }
    case .notSent(.permitEnded), .notSent(.notSelected), .notSent(.poolClosed): return (.notAsked, .none)
    case .notSent(.stopped): return (.undecided("the \(name) environment refused an earlier check"), .none)
    case .notSent(.malformed): return (.undecided("the token cannot stand in a request's path"), .none)
    case .notSent(.noConnection):
      let words = "the \(name) environment cannot be reached"
      return (.undecided(words), .failed(words))
    // One that is not sent again; see the rounds.
    case .notHandled: return (.undecided("the \(name) environment takes no further requests"), .none)
    case .answerLost:
      let words = "the \(name) environment gave no answer"
      return (.undecided(words), .failed(words))
    }
  }

  private var alive: EnvironmentAnswer {
    .aliveThere(
      Verdict(
        .transientlyFailed, fault: .configuration, reason: "TokenOfOtherEnvironment", status: 400,
        words: "the token is alive in the \(name) environment", names: "apns.useSandbox"))
  }
}

/// Keeps checks from being sent where they are refused or not answered.
struct CheckBreaker {
  enum Sign {
    case good
    /// The key is refused in the other environment.
    case refused(String)
    /// No answer, or one that says that the service is in trouble.
    case failed(String)
    /// Says nothing about the service.
    case none
  }

  private var failures = 0
  private var opened: (until: Int64, cause: String, key: String)?

  private static let hour: Int64 = 3_600_000
  private static let minute: Int64 = 60_000

  /// Why nothing is asked now; nil when checks may be sent. Another key is tried at once.
  mutating func cause(key: String, now: Int64) -> String? {
    guard let opened else { return nil }
    guard opened.key == key, now < opened.until else {
      self.opened = nil
      return nil
    }
    return opened.cause
  }

  /// A refused key is not tried for an hour. The third failure in a row opens for a minute, each
  /// further one for twice as long, up to ten.
  mutating func note(_ sign: Sign, key: String, now: Int64) {
    switch sign {
    case .none: break
    case .good:
      failures = 0
      opened = nil
    case .refused(let cause):
      opened = (now + CheckBreaker.hour, cause, key)
    case .failed(let cause):
      failures += 1
      guard failures >= 3 else { return }
      opened = (now + min(CheckBreaker.minute << Int64(min(failures - 3, 4)), 10 * CheckBreaker.minute), cause, key)
    }
  }
}
