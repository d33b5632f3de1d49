/// A verdict in two plain sentences: what happens to the row, and why.
public struct Explanation: Sendable, Hashable, CustomStringConvertible {
  /// What happens to the row; with and without a witness where that makes a difference.
  public let row: String
  /// Why, in the words of the answer, and what to look at.
  public let why: String

  public init(_ verdict: Verdict) {
    row = Explanation.row(verdict)
    why = Explanation.why(verdict)
  }

  public var description: String { "\(row) \(why)" }

  private static func row(_ verdict: Verdict) -> String {
    switch verdict.outcome {
    case .delivered:
      return "The row is kept and counted as delivered."
    case .permanentlyRejected:
      let witness =
        switch verdict.evidence {
        case .namesNothing:
          "another device of the same platform was delivered to in the same job, and the platform is known"
        case .tokenNamed, .aboutLane: "another device of the same platform was delivered to in the same job"
        case .conclusive, nil: ""
        }
      if witness.isEmpty {
        return
          "The hook hears of the row, and then the policy is carried out on it (clearColumn, unless set otherwise)."
      }
      return
        "With a witness (\(witness)) the hook hears of the row and then the policy is carried out on it; without one "
        + "the row is kept and counted as transiently failed."
    case .transientlyFailed:
      return switch verdict.retry {
      case .never: "The row is kept and counted as transiently failed; it is not tried again in this job."
      case .once: "The row is kept and tried once more, and then counted as transiently failed."
      case .attempts where verdict.faultWhenRepeated != nil:
        "The row is kept and tried again up to the limit of attempts; the job stops if the lane gives no other answer."
      case .attempts: "The row is kept and tried again up to the limit of attempts."
      case .free:
        "The row is kept and sent to again at once, without using up an attempt while the lane answers other recipients."
      }
    case .jobFails:
      let isOneRowsPerhaps = verdict.fault == .credentials || verdict.fault == .message
      return "The row is kept and still owed, and the job stops"
        + (isOneRowsPerhaps ? ", unless others of its group were accepted: then it was this row's alone." : ".")
    }
  }

  private static func why(_ verdict: Verdict) -> String {
    if verdict.outcome == .delivered { return "The service accepted the message for this device." }
    let answer = "The answer was \(saying(verdict))"
    let look = verdict.names.map { ": look at \($0)." } ?? "."
    if verdict.isSpared {
      return "\(answer), but the device registered this token after that death, or when it did cannot be read."
    }
    switch verdict.evidence {
    case .conclusive: return "\(answer), which says that the token is dead and can mean nothing else."
    case .tokenNamed:
      return "\(answer), which names the token and may be wrong about it: an APNs token sent to FCM answers the same."
    case .namesNothing:
      return "\(answer), which names nothing: a message that is malformed for one platform answers the same."
    case .aboutLane:
      return "\(answer), which may mean a dead token or a lane that is set up wrongly\(look)"
    case nil: break
    }
    return switch verdict.fault {
    case .recipient where verdict.retry == .never:
      "\(answer), which may mean a dead token, and no witness stands by\(look)"
    case .recipient: "\(answer), which says that this one device gets too much just now."
    case .configuration: "\(answer), which is about a setting and not about the device\(look)"
    case .message: "\(answer), which is about the message and not about the device\(look)"
    case .credentials: "\(answer), which is about the credential and not about the device\(look)"
    case .service where verdict.faultWhenRepeated != nil:
      "\(answer), which is not the service's own: a proxy, a portal or another server may have answered\(look)"
    case .service: "\(answer), which is about the service and not about the device."
    case .connection: "\(answer), and the request surely was not handled."
    case .unknown, nil: "\(answer), which Zonai does not know, and what is not known never touches a row."
    }
  }

  private static func saying(_ verdict: Verdict) -> String {
    let reason = verdict.reason.rawValue
    guard let status = verdict.status, !reason.hasPrefix("HTTP ") else { return reason }
    return "\(status) \(reason)"
  }
}

extension Verdict {
  /// Whether a dead token's row was kept for its last-seen time.
  var isSpared: Bool { outcome == .transientlyFailed && deadSince != nil }
}
