import ZonaiCore
import ZonaiHTTP

extension HTTPFailure {
  /// What it means for the lane that there was no connection, or no answer to a single request.
  func verdict(on transport: TransportName) -> Verdict {
    switch code {
    case .nameNotResolved: connection(.nameNotResolved, transport)
    case .certificateNotTrusted: connection(.certificateNotTrusted, transport)
    case .certificateNameMismatch: connection(.certificateNameWrong, transport)
    case .http11Only: connection(.http2NotSpoken, transport)
    case .timedOut: connection(.timedOut, transport)
    case .unreachable, .connectTimedOut, .handshakeFailed, .proxyFailed, .closedBeforeAnswer, .noStreamsAllowed,
      .cancelled, .other:
      connection(.cannotConnect, transport)
    case .proxyRefused: setting("proxyRefused", names: "https_proxy")
    case .unreadableCAFile: setting("unreadableCAFile", names: "CA file")
    case .unsupportedLibrary: setting("unsupportedLibrary", names: "libcurl of this machine")
    case .malformedRequest: setting("malformedRequest", names: "\(transport) configuration")
    case .answerTooLarge: .foreign(names: "\(transport) endpoint")
    }
  }

  private func connection(_ failure: ConnectionFailure, _ transport: TransportName) -> Verdict {
    ConnectionVerdicts.verdict(for: failure, on: transport, words: description)
  }

  private func setting(_ reason: Reason, names: String) -> Verdict {
    Verdict(
      .jobFails, fault: .configuration, reason: reason, words: ServiceWords.shortened(description), names: names)
  }
}
