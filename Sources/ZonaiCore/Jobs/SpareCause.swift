/// Why a row was spared whose token was reported dead, as the job's account says it.
public enum SpareCause: Sendable, Hashable {
  case lastSeenChanged, tokenChanged

  public var sentence: String {
    switch self {
    case .lastSeenChanged: "spared: its last-seen changed after it was sent to"
    case .tokenChanged: "spared: its token changed after it was sent to, or the row is gone"
    }
  }

  /// The same for a prune that the database refused, in its words.
  public static func refused(_ words: String) -> String { "refused by the database: \(words)" }
}
