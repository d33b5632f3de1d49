/// How well an answer proves that a token is dead, from strong to weak.
public enum Evidence: String, Sendable, Hashable, Codable, CaseIterable {
  /// Means nothing else: `UNREGISTERED`, `Unregistered`, `ExpiredToken`. Prunes always, a whole batch too.
  case conclusive
  /// Names the token, and may be wrong about it (an APNs token sent to FCM).
  case tokenNamed
  /// Names nothing: a message that is malformed for one platform answers the same.
  case namesNothing
  /// Could be the lane's wrong environment or project.
  case aboutLane

  /// Whether the answer needs a witness: a delivery in the same group.
  public var isCircumstantial: Bool { self != .conclusive }

  /// What a circumstantial answer might be about instead of a dead token.
  public var about: Subject {
    switch self {
    case .conclusive, .tokenNamed: .token
    case .namesNothing: .message
    case .aboutLane: .lane
    }
  }
}

/// What an answer may be about.
public enum Subject: String, Sendable, Hashable, Codable {
  case token, message, lane
}
