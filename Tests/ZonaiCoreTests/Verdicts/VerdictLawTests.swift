import Testing

@testable import ZonaiCore

/// Laws that hold for every answer there could be, tried on very many of them.
struct VerdictLawTests {
  static let reasons: [String] =
    ["", "SolarFlare", "unregistered", "UNREGISTERED ", "410", "null"]
    + APNsVerdicts.rows.map(\.verdict.reason.rawValue)
  static let codes: [String?] = [
    nil, "", "SOLAR_FLARE", "unregistered", "UNREGISTERED", "INVALID_ARGUMENT", "SENDER_ID_MISMATCH",
    "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR", "QUOTA_EXCEEDED", "UNAVAILABLE", "INTERNAL", "UNSPECIFIED_ERROR",
  ]
  static let words: [String?] = [
    nil, "", FCMBodies.invalidToken, FCMBodies.generic, "Android message is too big", "NotRegistered",
    "Device message rate exceeded", "Requested entity was not found.", "APNs device token is disabled.",
  ]
  static let bodies: [AnswerBody] = [.service, .service, .service, .empty, .other]
  static let fields: [String?] = [nil, "message", "message.token", "message.android.ttl"]

  static func apnsAnswer(_ chance: inout SeededGenerator) -> APNsAnswer {
    let body = bodies.randomElement(using: &chance) ?? .service
    return APNsAnswer(
      status: Int.random(in: 100...610, using: &chance), body: body,
      reason: body == .service ? reasons.randomElement(using: &chance) : nil,
      timestamp: Bool.random(using: &chance) ? Int64.random(in: 0...2_000_000_000_000, using: &chance) : nil,
      hasID: Bool.random(using: &chance), retryAfter: ["5", nil, "x"].randomElement(using: &chance) ?? nil)
  }

  static func fcmAnswer(_ chance: inout SeededGenerator) -> FCMAnswer {
    let usual = [200, 400, 401, 403, 404, 410, 429, 500, 503]
    let status = Bool.random(using: &chance) ? usual.randomElement(using: &chance) : nil
    let body = bodies.randomElement(using: &chance) ?? .service
    var answer = FCMAnswer(status: status ?? Int.random(in: 100...610, using: &chance), body: body)
    guard body == .service else { return answer }
    answer.serviceStatus = [nil, "NOT_FOUND", "INVALID_ARGUMENT", "ABORTED"].randomElement(using: &chance) ?? nil
    answer.message = words.randomElement(using: &chance) ?? nil
    answer.isOldShape = Int.random(in: 0..<5, using: &chance) == 0
    if answer.isOldShape { return answer }
    answer.errorCode = codes.randomElement(using: &chance) ?? nil
    if Bool.random(using: &chance) {
      answer.apnsError = FCMBodies.apns(
        [nil, 400, 410].randomElement(using: &chance) ?? nil, reasons.randomElement(using: &chance))
    }
    if Bool.random(using: &chance) {
      answer.violations = (0..<Int.random(in: 0...2, using: &chance)).map { _ in
        .init(field: fields.randomElement(using: &chance) ?? nil)
      }
    }
    answer.messageHasLiveActivityToken = Int.random(in: 0..<5, using: &chance) == 0
    return answer
  }

  /// What must hold of any verdict of a service, whatever it answered.
  static func broken(_ verdict: Verdict) -> String? {
    if verdict.outcome == .permanentlyRejected {
      if verdict.fault != .recipient { return "a fault that is not the recipient's rejects" }
      if verdict.evidence == nil { return "a rejection without evidence" }
      let status = verdict.status ?? 0
      if !(400...499).contains(status) || [408, 421, 425, 429, 499].contains(status) {
        return "a rejection under that status"
      }
      if verdict.retry != .never { return "a rejection is tried again" }
    } else if verdict.evidence != nil {
      return "evidence without a rejection"
    }
    if verdict.outcome == .delivered, verdict.status != 200 || verdict.fault != nil { return "a delivery that is none" }
    if verdict.outcome != .delivered, verdict.fault == nil { return "nobody's fault" }
    if verdict.outcome == .jobFails {
      let lane: Set<Fault> = [.configuration, .message, .credentials]
      if !lane.contains(verdict.fault ?? .unknown) { return "the job fails by a fault that passes" }
      if verdict.names == nil { return "the job fails and names nothing" }
    }
    if [.service, .connection, .unknown].contains(verdict.fault), verdict.outcome != .transientlyFailed {
      return "a passing fault does not pass"
    }
    if verdict.fault == .unknown, verdict.retry != .once { return "the unknown is not tried once" }
    if verdict.retry == .free, verdict.fault != .connection { return "a free repeat of what may have been handled" }
    if let status = verdict.status, (500...599).contains(status) || [408, 421, 425, 499].contains(status),
      verdict.fault != .service && verdict.fault != .connection || verdict.faultWhenRepeated != nil
    {
      return "a status that passes is not the service's or the connection's"
    }
    if verdict.faultWhenRepeated != nil, verdict.fault != .service || verdict.names == nil || verdict.retry != .attempts
    {
      return "an answer of another server is not tried again, or names nothing"
    }
    if verdict.slowsLane, verdict.fault != .service { return "one device slows the lane" }
    return nil
  }

  @Test func `no answer of APNs breaks a law, and no unknown one rejects or delivers`() {
    var chance = SeededGenerator(seed: 1)
    let known = Set(APNsVerdicts.rows.filter { !$0.keepsRawReason }.map(\.verdict.reason.rawValue))
    for _ in 0..<30_000 {
      let answer = Self.apnsAnswer(&chance)
      let verdict = APNsVerdicts.verdict(for: answer)
      if let fault = Self.broken(verdict) { Issue.record("\(fault): \(answer)") }
      if verdict.outcome == .permanentlyRejected {
        let isKnown = answer.reason.map(known.contains) ?? false
        let isEmptyOfApple = answer.body == .empty && answer.hasID && answer.status == 410
        #expect(isKnown || isEmptyOfApple, "\(answer)")
      }
      if verdict.outcome == .delivered { #expect(answer.status == 200 && answer.body == .empty, "\(answer)") }
    }
  }

  @Test func `no answer of FCM breaks a law, and only its own codes reject`() {
    var chance = SeededGenerator(seed: 2)
    for _ in 0..<30_000 {
      let answer = Self.fcmAnswer(&chance)
      let verdict = FCMVerdicts.verdict(for: answer)
      if let fault = Self.broken(verdict) { Issue.record("\(fault): \(answer)") }
      if verdict.outcome == .permanentlyRejected {
        #expect(answer.body == .service && !answer.isOldShape, "\(answer)")
        let isBareNotFound = answer.errorCode == nil && answer.serviceStatus == "NOT_FOUND" && answer.status == 404
        #expect(["UNREGISTERED", "INVALID_ARGUMENT"].contains(answer.errorCode) || isBareNotFound, "\(answer)")
        if answer.messageHasLiveActivityToken {
          #expect(answer.apnsError == nil || answer.errorCode == nil, "\(answer)")
        }
      }
      if verdict.evidence == .conclusive {
        #expect(answer.errorCode == "UNREGISTERED" || answer.apnsError != nil, "\(answer)")
      }
      if verdict.outcome == .delivered { #expect(answer.errorCode == nil && answer.body == .service, "\(answer)") }
    }
  }

  @Test func `every status with an unknown reason is kept`() {
    for status in 100...599 {
      let apns = APNsVerdicts.verdict(for: APNsAnswer(status: status, body: .service, reason: "SolarFlare"))
      #expect(apns.outcome == .transientlyFailed, "\(status)")
      let fcm = FCMVerdicts.verdict(for: FCMBodies.json(status, "SOLAR", "flare", code: "SOLAR_FLARE"))
      #expect(fcm.outcome == .transientlyFailed, "\(status)")
      let proxy = FCMVerdicts.verdict(for: FCMBodies.page(status))
      #expect(proxy.fault == .service && proxy.retry == .attempts, "\(status)")
      let passes = status >= 500 || [408, 421, 425, 429, 499].contains(status)
      #expect(proxy.faultWhenRepeated == (passes ? nil : .configuration), "\(status)")
      let apnsProxy = APNsVerdicts.verdict(for: APNsAnswer(status: status, body: .other, hasID: true))
      #expect(apnsProxy.fault == .service && apnsProxy.faultWhenRepeated == proxy.faultWhenRepeated, "\(status)")
    }
  }

  @Test func `evidence that needs a witness prunes nobody without one`() {
    for row in FCMVerdicts.rows.map(\.verdict) + FCMVerdicts.apnsErrorRows.map(\.verdict)
      + APNsVerdicts.rows.map(\.verdict)
    {
      let alone = row.withoutWitness
      #expect((alone.outcome == .permanentlyRejected) == (row.evidence == .conclusive))
      if row.outcome != .permanentlyRejected { #expect(alone == row) }
    }
  }

  @Test func `every row names its source`() {
    #expect(FCMVerdicts.rows.allSatisfy { !$0.source.isEmpty && !$0.answer.isEmpty })
    #expect(FCMVerdicts.apnsErrorRows.allSatisfy { !$0.source.isEmpty && !$0.answer.isEmpty })
    #expect(APNsVerdicts.rows.allSatisfy { !$0.source.isEmpty && !$0.answer.isEmpty })
    #expect(OAuthVerdicts.rows.allSatisfy { !$0.source.isEmpty && !$0.answer.isEmpty })
    #expect(Set(APNsVerdicts.rows.map(\.answer)).count == APNsVerdicts.rows.count)
    #expect(Set(FCMVerdicts.rows.map(\.answer)).count == FCMVerdicts.rows.count)
  }
}
