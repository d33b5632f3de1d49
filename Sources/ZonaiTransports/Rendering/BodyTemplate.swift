import ZonaiHTTP

/// A body that was rendered once, with holes for the little that differs: the device token in each request, what is left
/// of the time to live in each batch.
struct BodyTemplate: Sendable, Hashable {
  enum Piece: Sendable, Hashable {
    case bytes([UInt8])
    case hole(Hole)
  }

  enum Hole: Sendable, Hashable {
    /// The device token, as the inside of a JSON string.
    case token
    /// The seconds that are left of the time to live.
    case secondsLeft
    /// When the time to live ends, in seconds since 1970.
    case endsAt
  }

  private(set) var pieces: [Piece] = []

  mutating func append(_ text: String) { append(text.utf8) }

  mutating func append(_ bytes: some Sequence<UInt8>) {
    if case .bytes(var last)? = pieces.last {
      last.append(contentsOf: bytes)
      pieces[pieces.count - 1] = .bytes(last)
    } else {
      pieces.append(.bytes(Array(bytes)))
    }
  }

  mutating func append(_ hole: Hole) { pieces.append(.hole(hole)) }

  /// Fills the holes that are the same for a whole batch; the token's is left.
  func filled(secondsLeft: Int64, endsAt: Int64) -> ByteTemplate {
    var segments: [[UInt8]] = [[]]
    for piece in pieces {
      switch piece {
      case .bytes(let bytes): segments[segments.count - 1].append(contentsOf: bytes)
      case .hole(.token): segments.append([])
      case .hole(.secondsLeft): segments[segments.count - 1].append(contentsOf: String(secondsLeft).utf8)
      case .hole(.endsAt): segments[segments.count - 1].append(contentsOf: String(endsAt).utf8)
      }
    }
    return ByteTemplate(segments: segments)
  }
}
