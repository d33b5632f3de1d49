import ZonaiCore
import ZonaiTestKit

/// A batch, the services that answer it, and what came of it: the machine driven to its end on a clock of its own.
struct BatchScript {
  typealias Answer = (_ index: Int, _ attempt: Int) -> Verdict

  var recipients = Recipients()
  var job: Job
  var owed: [Int: OwedRecipient] = [:]
  var resting: [OwedRecipient] = []
  var rejections: [Rejection] = []
  var keptGroups: Set<Group> = []
  var isSole = false
  var retry = RetryPolicy()
  var accounts: [Group: GroupCounts] = [:]
  /// Asked once for each request, in order.
  var answer: Answer = { _, _ in .delivered }
  /// What the other environment says, by index into the recipients.
  var checks: [Int: EnvironmentAnswer] = [:]
  /// Faults that no single answer carries, by transport, for the given send (from 1).
  var laneFault: (_ transport: TransportName, _ send: Int) -> Verdict? = { _, _ in nil }
  /// Whether the lane answered others meanwhile, for the given send (from 1).
  var laneAnswered: (_ send: Int) -> Bool = { _ in false }
  /// How long a send takes, in milliseconds.
  var sendMilliseconds: Int64 = 10
  /// Answers after which a transport opens no further request.
  var stops: (Verdict) -> Bool = { $0.outcome == .jobFails }

  static let start: Int64 = 1_800_000_000_000

  init(_ platforms: [String], routes: Routes = Routes(apple: .apns, android: .fcm, unknown: .fcm), ttl: Int? = nil) {
    for (index, platform) in platforms.enumerated() {
      recipients.append(key: RowKey(.integer(Int64(index))), token: "token-\(index)", platform: Platform(platform))
    }
    job = Job(
      id: JobID("job"),
      definition: JobDefinition(
        message: PushMessage(title: "Hello", timeToLive: ttl), audience: Audience("devices", token: "token"),
        policy: .clearColumn, routes: routes),
      state: .running, createdAt: Self.start, dueAt: Self.start)
  }

  static let fcm = LanePlan(
    lane: Lane(transport: .fcm, fingerprint: "fcm", retryFloorMilliseconds: 10_000), fingerprint: "fcm")
  static let apns = LanePlan(lane: Lane(transport: .apns, fingerprint: "apns"), fingerprint: "apns")

  static func group(_ transport: TransportName, _ platform: String) -> Group {
    Group(transport: transport, fingerprint: transport.rawValue, platform: Platform(platform))
  }

  struct Ending {
    var answers: BatchAnswers?
    var prunes: BatchPrunes?
    var sends: [BatchStep.Dispatch] = []
    var askedWitnesses = 0
    var checked: [Int] = []
    var clock: Int64 = BatchScript.start
    var isAbandoned = false

    func count(_ outcome: TallyLine.Outcome) -> Int {
      answers?.tally.filter { $0.outcome == outcome }.reduce(0) { $0 + $1.count } ?? 0
    }
    var delivered: Int { count(.delivered) }
    var failed: Int { count(.transientlyFailed) }
    var expired: Int { count(.expired) }
    var rejected: Int { answers?.rejections.count ?? 0 }
    var owed: [OwedRecipient] { answers?.owed ?? [] }
    var failure: JobFailure? { answers?.failure }
    var details: Set<String> { Set(answers?.tally.map(\.detail) ?? []) }
  }

  func claimed() -> ClaimedBatch {
    ClaimedBatch(
      lease: BatchLease(job: job.id, batch: 1, fence: 1), job: job, recipients: recipients, owed: owed,
      resting: resting, rejections: rejections, isSole: isSole,
      keptGroups: keptGroups, now: Self.start, leaseMilliseconds: 60_000)
  }

  /// Runs to the end. `interrupt` may replace a step's event by a stop.
  func run(lanes: [TransportName: LanePlan] = [.fcm: fcm, .apns: apns]) -> Ending {
    var ending = Ending()
    var machine = BatchMachine(batch: claimed(), lanes: lanes, retry: retry, seed: 7)
    var order: UInt64 = 0
    var attempts: [Int: Int] = [:]
    var sends: [TransportName: Int] = [:]
    var pending: [BatchStep.Dispatch] = []
    var step = machine.handle(.started(now: ending.clock))
    for _ in 0..<100_000 {
      switch step {
      case .go(let dispatches, let wakeAt):
        ending.sends += dispatches
        pending += dispatches
        if let dispatch = pending.first {
          pending.removeFirst()
          sends[dispatch.transport, default: 0] += 1
          var result = PushBatchResult(answers: [])
          result.laneFault = laneFault(dispatch.transport, sends[dispatch.transport] ?? 0)
          result.laneAnswered = laneAnswered(sends[dispatch.transport] ?? 0)
          var hasStopped = result.laneFault != nil
          for index in dispatch.selection {
            guard !hasStopped else {
              result.answers.append(nil)
              continue
            }
            order += 1
            attempts[index, default: 0] += 1
            let verdict = answer(index, attempts[index] ?? 0)
            let sent = PushAnswer.Sent(order: order, credential: 1)
            result.answers.append(verdict.outcome == .delivered ? .delivered(sent) : .answered(verdict, sent))
            hasStopped = stops(verdict)
          }
          ending.clock += sendMilliseconds
          step = machine.handle(.answered(dispatch: dispatch.id, result, now: ending.clock))
        } else if let wakeAt {
          ending.clock = max(ending.clock, wakeAt)
          step = machine.handle(.timerFired(now: ending.clock))
        } else {
          return ending
        }
      case .revoke:
        guard let dispatch = pending.first else { return ending }
        pending.removeFirst()
        step = machine.handle(
          .answered(
            dispatch: dispatch.id, .nothingSent(dispatch.selection.count, because: nil), now: ending.clock))
      case .askWitnesses(let groups):
        ending.askedWitnesses += 1
        step = machine.handle(
          .witnesses(
            Dictionary(uniqueKeysWithValues: groups.map { ($0, accounts[$0] ?? GroupCounts()) }), now: ending.clock))
      case .checkEnvironment(let dispatches):
        ending.checked += dispatches.flatMap(\.selection)
        step = machine.handle(.checked(checks, now: ending.clock))
      case .settle(.answers(let answers)):
        // As a store does it, in its transaction.
        let weighed = answers.weighed(against: accounts, keptGroups: keptGroups, now: ending.clock)
        ending.answers = weighed
        step = machine.handle(.settled(.committed(Committed(job: job, recorded: weighed.rejections))))
      case .settle(.prunes(let prunes)):
        ending.prunes = prunes
        step = machine.handle(.settled(.committed(Committed(job: job))))
      case .askRows(let rejections):
        step = machine.handle(.rows(rejections.map { Row(columns: ["token"], values: [.text($0.token.text)]) }))
      case .askHooks(let questions):
        step = machine.handle(.hooked(questions.map { _ in .followPolicy }, failed: 0))
      case .finished:
        return ending
      case .abandoned:
        ending.isAbandoned = true
        return ending
      }
    }
    return ending
  }
}

extension Verdict {
  static let dead = Verdict(
    .permanentlyRejected, fault: .recipient, evidence: .conclusive, reason: "UNREGISTERED", status: 404)
  static let tokenNamed = Verdict(
    .permanentlyRejected, fault: .recipient, evidence: .tokenNamed, reason: "INVALID_ARGUMENT", status: 400)
  static let namesNothing = Verdict(
    .permanentlyRejected, fault: .recipient, evidence: .namesNothing, reason: "INVALID_ARGUMENT", status: 400)
  static let badDeviceToken = Verdict(
    .permanentlyRejected, fault: .recipient, evidence: .aboutLane, reason: "BadDeviceToken", status: 400)
  static let unavailable = Verdict(
    .transientlyFailed, fault: .service, retry: .attempts, reason: "UNAVAILABLE", status: 503)
  static let refusedKey = Verdict(
    .jobFails, fault: .credentials, reason: "UNAUTHENTICATED", status: 401, names: "fcm.serviceAccount")
  static let refusedMessage = Verdict(
    .jobFails, fault: .message, reason: "PayloadTooLarge", status: 413, names: "the message's size")
  static let wrongTopic = Verdict(
    .transientlyFailed, fault: .configuration, reason: "DeviceTokenNotForTopic", status: 400, names: "apns.bundleId")
  static let notHandled = Verdict(
    .transientlyFailed, fault: .connection, retry: .free, reason: .notHandled)
  static let lost = Verdict(
    .transientlyFailed, fault: .service, retry: .attempts, reason: .timedOut, answerMayBeLost: true)
  static let unheardOf = Verdict(
    .transientlyFailed, fault: .unknown, retry: .once, reason: "Gone Fishing", status: 418)
}
