import ZonaiCore

@testable import ZonaiTestKit

extension Flaw {
  static let padding: [Flaw] = [
    onFixed("takes the padding of a type for part of a token") { recipients, isFixed in
      guard isFixed("token") else { return }
      recipients = recipients.rebuilt(token: padded)
    },
    onFixed("takes the padding of a type for part of a key") { recipients, isFixed in
      recipients = recipients.rebuilt(key: { key in
        RowKey(
          key.values.enumerated().map { place, value in
            guard case .text(let text) = value, isFixed("k\(place)") else { return value }
            return .text(padded(text))
          })
      })
    },
    onClaim("does not say how much the token column holds") { batch in
      var rebuilt = Recipients()
      for index in 0..<batch.recipients.count {
        rebuilt.append(
          key: batch.recipients.keys[index], token: batch.recipients.tokens.token(index).text,
          platform: batch.recipients.platform(index), lastSeen: batch.recipients.lastSeen(index))
      }
      batch.recipients = rebuilt
    },
  ]

  /// Changes the recipients of a claim, knowing which columns are of the type that pads.
  private static func onFixed(
    _ name: String, _ change: @escaping @Sendable (inout Recipients, (String) -> Bool) -> Void
  ) -> Flaw {
    Flaw(name) { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        let result = try await store.claim(request)
        guard case .batch(var batch) = result else { return result }
        let table = try store.state().tables[batch.job.definition.audience.table]
        change(&batch.recipients) { table?.sketch.column($0)?.kind == .fixedText }
        return .batch(batch)
      }
    }
  }
}

private func padded(_ text: String) -> String { text + String(repeating: " ", count: max(0, 40 - text.count)) }
