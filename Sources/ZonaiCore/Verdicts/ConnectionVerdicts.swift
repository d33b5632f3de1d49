/// What it means that no answer came. None of it says anything about a device.
public enum ConnectionVerdicts {
  /// `words` is the library's own sentence about it, without key material.
  public static func verdict(
    for failure: ConnectionFailure, on transport: TransportName, words: String? = nil
  ) -> Verdict {
    var verdict = template(failure, endpoint: "\(transport) endpoint")
    verdict.words = words.map { ServiceWords.shortened($0) }
    return verdict
  }

  private static func template(_ failure: ConnectionFailure, endpoint: String) -> Verdict {
    switch failure {
    case .timedOut: .service(.timedOut, answerMayBeLost: true)
    case .answerLost: .service(.answerLost, answerMayBeLost: true)
    case .notHandled: .connection(.notHandled)
    // No free repeats for these two: they would be used up before anything had changed.
    case .cannotConnect: .connection(.cannotConnect, retry: .attempts)
    case .nameNotResolved: .connection(.nameNotResolved, retry: .attempts)
    case .certificateNotTrusted: .laneSetting(.certificateNotTrusted, names: "CA file or \(endpoint)")
    case .certificateNameWrong: .laneSetting(.certificateNameWrong, names: endpoint)
    case .http2NotSpoken: .laneSetting(.http2NotSpoken, names: endpoint)
    }
  }
}
