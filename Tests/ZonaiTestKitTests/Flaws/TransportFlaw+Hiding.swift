import ZonaiCore
import ZonaiTestKit

extension TransportFlaw {
  static let hiding: [TransportFlaw] = [
    onVerdict("shows the token of a dead device") { verdict, token in
      if verdict.outcome == .permanentlyRejected { verdict.words = "gone: \(token.text)" }
    },
    onVerdict("names the token as what to look at") { verdict, token in
      if verdict.fault == .message { verdict.names = token.text }
    },
    onVerdict("has the token in its reason") { verdict, token in
      if verdict.status == 503 { verdict.reason = Reason(rawValue: "away for \(token.text)") }
    },
    onSend("gives the token away in the fault of the lane") { transport, batch, answered in
      let log = AnswerLog(batch)
      var end = await transport.send(batch) { chunk in
        log.take(chunk)
        answered(chunk)
      }
      if !batch.selection.isEmpty, log.answers.contains(where: { $0?.verdict?.fault == .credentials }) {
        var fault = Verdict.credentialsRefused
        fault.words = "refused for \(batch.tokens.token(batch.selection[0]).text)"
        end.laneFault = fault
      }
      return end
    },
    onWords("passes the service's words on as they are") { words, _ in words },
    onWords("hides tokens only where they stand whole") { words, token in words.replacing(token.text, with: "…") },
    onWords("hides only the part of a token that is not secret") { words, token in
      words.replacing(token.text.prefix { $0 != ":" }, with: "…")
    },
    onWords("shows how a token begins and ends") { words, token in
      words.contains(token.text.suffix(40).prefix(20)) ? "\(token.text.suffix(40).prefix(12))…" : "…"
    },
    onWords("hides tokens in one case alone") { words, token in
      holdsPiece(of: token.text, words) ? "…" : words.lowercased() == words || words.uppercased() == words ? words : "…"
    },
    onWords("does not know tokens when they are encoded") { words, token in
      holdsPiece(of: token.text.lowercased(), words.lowercased()) ? "…" : words
    },
    onWords("decodes percent signs and nothing else") { words, token in
      words.contains("%") || holdsPiece(of: token.text.lowercased(), words.lowercased()) ? "…" : words
    },
  ]

  /// Passes on an unknown answer's words, as they were written, by a way of its own.
  private static func onWords(
    _ name: String, _ hide: @escaping @Sendable (_ words: String, _ token: DeviceToken) -> String
  ) -> TransportFlaw {
    onSend(name) { transport, batch, answered in
      await transport.send(batch) { chunk in
        var chunk = chunk
        for (place, answer) in chunk.answers.enumerated() {
          guard case .answered(var verdict, let sent) = answer, verdict.fault == .unknown else { continue }
          let token = batch.tokens.token(chunk.indexes[place])
          guard let written = transport.sent.last(where: { $0.sent == sent })?.verdict.words else { continue }
          verdict.words = hide(written, token)
          chunk.answers[place] = .answered(verdict, sent)
        }
        answered(chunk)
      }
    }
  }

  private static func holdsPiece(of token: String, _ words: String) -> Bool {
    let token = Array(token.utf8)
    let words = Array(words.utf8)
    guard words.count >= 7, token.count >= 7 else { return false }
    let pieces = Set((0...token.count - 7).map { Array(token[$0..<$0 + 7]) })
    return (0...words.count - 7).contains { pieces.contains(Array(words[$0..<$0 + 7])) }
  }
}
