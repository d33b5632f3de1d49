import ZonaiCore
import ZonaiJSON

/// A verdict in words: what happens to the row, and why.
struct VerdictAccount: Sendable {
  let verdict: Verdict

  var json: JSON {
    [
      "verdict": .string(verdict.outcome.rawValue),
      "withoutWitness": .string(withoutWitness.rawValue),
      "fault": (verdict.fault?.rawValue).json,
      "evidence": verdict.evidence.map { $0.isCircumstantial ? "circumstantial" : "conclusive" }.json,
      "about": (verdict.about?.rawValue).json,
      "reason": .string(verdict.reason.rawValue),
      "words": verdict.words.json,
      "names": verdict.names.json,
      "faultWhenRepeated": (verdict.faultWhenRepeated?.rawValue).json,
      "retry": .string(verdict.retry.rawValue),
      "retryAfterSeconds": verdict.retryAfterMilliseconds.map { .integer(($0 + 999) / 1000) } ?? .null,
      "deadSince": verdict.deadSince.json,
    ]
  }

  /// What the answer counts as when nobody of its group was delivered to.
  private var withoutWitness: Verdict.Outcome {
    verdict.evidence?.isCircumstantial == true ? .transientlyFailed : verdict.outcome
  }

  /// Two sentences.
  var text: String { "\(whatHappens)\n\(why)" }

  private var whatHappens: String {
    switch verdict.outcome {
    case .delivered:
      "The row is kept and the recipient counts as delivered."
    case .permanentlyRejected where verdict.evidence?.isCircumstantial == true:
      "Beside a delivery in the same group the hook is told of the row and then its token is cleared (or what else "
        + "onPermanentRejection says); without one the row is kept and the recipient counts as transiently failed."
    case .permanentlyRejected:
      "The hook is told of the row, then its token is cleared (or what else onPermanentRejection says)."
    case .transientlyFailed where verdict.faultWhenRepeated != nil:
      "The row is kept, and the recipient \(retry); the job fails if the lane gives no other answer."
    case .transientlyFailed:
      "The row is kept, and the recipient \(retry)."
    case .jobFails where verdict.fault == .configuration:
      "The row is kept and the job fails; after the setting was put right, 'zonai jobs resume' sends to who is owed."
    case .jobFails:
      "The row is kept and the job fails, unless others are delivered to all the same (one odd row fails no job); "
        + "after the \(verdict.fault == .credentials ? "credential" : "message") was put right, "
        + "\(verdict.fault == .credentials ? "'zonai jobs resume' sends to who is owed" : "push it anew")."
    }
  }

  private var retry: String {
    let wait =
      verdict.retryAfterMilliseconds.map { " after the \(($0 + 999) / 1000) s that the service asks for" } ?? ""
    return switch verdict.retry {
    case .never: "counts as transiently failed without a retry"
    case .once: "is tried once more\(wait), then counts as transiently failed"
    case .attempts: "is tried again\(wait), up to maxAttemptsPerBatch times, before it counts as transiently failed"
    case .free: "is sent to again, without using up an attempt while the lane answers other recipients"
    }
  }

  private var why: String {
    if verdict.outcome == .delivered { return "A 200 means that the service took the message." }
    if verdict.faultWhenRepeated != nil {
      return
        "The body is not the service's own, so a proxy, a portal or another server may have answered: look at \(verdict.names ?? "the lane")."
    }
    let reason = verdict.reason.rawValue
    guard let words = verdict.words, words != reason else { return "\(reason) \(meaning)." }
    return "\(reason) ('\(words)') \(meaning)."
  }

  private var meaning: String {
    if let evidence = verdict.evidence {
      return switch evidence {
      case .conclusive: "says that this token is dead for good, and can mean nothing else"
      case .tokenNamed: "names the token, but answers the same when the message is at fault after all"
      case .namesNothing: "names nothing, and a message that is malformed for this platform is answered the same"
      case .aboutLane:
        "is also the answer of a lane that is wrong as a whole"
          + (verdict.names.map { ": look at \($0) when it comes for everybody" } ?? "")
      }
    }
    let place = verdict.names.map { ": look at \($0)" } ?? ""
    return switch verdict.fault {
    case nil: "means that the service took the message"
    case .recipient where verdict.deadSince != nil:
      "speaks of a time before this row's token was registered (again)"
    case .recipient: "means that this one device gets too much just now; its token is alive"
    case .configuration where verdict.outcome == .jobFails: "means that the lane's settings are wrong\(place)"
    case .configuration: "means that a setting does not fit this recipient, whose token may well be alive\(place)"
    case .message: "means that the service does not take this message, whoever it is for\(place)"
    case .credentials: "means that the service does not accept the credentials\(place)"
    case .service: "is the service's own trouble and says nothing about the device"
    case .connection: "means that the request was surely not handled"
    case .unknown: "is no answer that Zonai knows, so it proves nothing"
    }
  }
}
