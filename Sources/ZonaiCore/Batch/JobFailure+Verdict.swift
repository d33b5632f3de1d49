/// The sentences with which a job stops: what happened, and what to do.
extension JobFailure {
  /// A verdict that is the whole job's.
  init(_ verdict: Verdict, lane: Lane?) {
    let service = lane?.transport.description ?? "the service"
    let answer = verdict.answerText
    switch verdict.fault {
    case .configuration where verdict.faultWhenRepeated != nil:
      self.init(
        .configuration,
        "\(service) gave no answer of its own, only \(answer). Look at \(verdict.names ?? "the lane's settings") and for a proxy or portal on the way, then resume the job."
      )
    case .credentials:
      self.init(
        .credentials,
        "\(service) does not accept the credentials: \(answer). Put \(verdict.names ?? "the credentials") right, then resume the job."
      )
    case .message:
      self.init(
        .message,
        "\(service) does not take the message: \(answer). Look at \(verdict.names ?? "the message's fields") and enqueue it anew."
      )
    case .configuration, .recipient, .service, .connection, .unknown, nil:
      self.init(
        .configuration,
        "\(service) cannot be used as configured: \(answer). Put \(verdict.names ?? "the lane's settings") right, then resume the job."
      )
    }
  }

  /// The batch guard's.
  static func suspects(_ rejection: Rejection) -> JobFailure {
    let group = rejection.group
    let probably =
      switch (rejection.evidence, group.transport) {
      case (.aboutLane, .apns): "apns.useSandbox does not fit these tokens"
      case (.aboutLane, _): "fcm.projectId is another project's"
      case (.tokenNamed, _): "these tokens are of another service, or fcm.projectId is another project's"
      default: "the message is too big or has a data key or field that this platform does not take"
      }
    return JobFailure(
      .suspects,
      "no recipient of \(group.platform) was delivered to over \(group.transport), and the answers (\(rejection.answerText)) may not be about the tokens: probably \(probably). No row was touched. Put it right and resume the job; or resume it with --suspects keep, or --suspects prune if the tokens really are dead."
    )
  }

  static func outage(_ verdict: Verdict, lane: Lane?) -> JobFailure {
    JobFailure(
      .outage,
      "\(lane?.transport.description ?? "the service") has been away for a day: \(verdict.answerText). Nobody was counted out; resume the job when it is back."
    )
  }
}

extension Rejection {
  var answerText: String { ZonaiCore.answerText(reason, status, words) }
}

extension Verdict {
  var answerText: String { ZonaiCore.answerText(reason, status, words) }

  /// What a job's account says beside the reason: the setting or the service's words, at most 200 characters.
  var detail: String {
    let text = [names, words].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
    return String(text.prefix(200))
  }
}

/// An answer in a few words: status, reason, the service's own text.
private func answerText(_ reason: Reason, _ status: Int?, _ words: String?) -> String {
  var text = reason.rawValue
  if let status { text = "\(status) \(text)" }
  if let words, !words.isEmpty, words != reason.rawValue { text += ", \"\(words)\"" }
  return text
}
