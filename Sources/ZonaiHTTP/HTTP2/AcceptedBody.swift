/// What the body of a 200 must be for the 200 to count as the service's own, without anybody parsing it.
///
/// A 200 whose body is another comes with what is kept of it, as every answer other than 200 does.
public enum AcceptedBody: Sendable, Hashable {
  /// Any, or none.
  case anything
  /// No byte at all.
  case nothing
  /// One whose first byte that is not white space opens a JSON object.
  case object

  /// Whether a 200 with such a body is the service's own.
  func accepts(_ beginning: BodyBeginning) -> Bool {
    switch self {
    case .anything: true
    case .nothing: beginning == .none
    case .object: beginning == .object
    }
  }

  /// Whether a 200 is an answer as soon as so much of its body is there, even if the rest should never come.
  func isEnough(_ beginning: BodyBeginning) -> Bool {
    switch self {
    case .anything, .nothing: true
    case .object: beginning == .object || beginning == .other
    }
  }
}

/// What is known of a body by its first bytes.
enum BodyBeginning: UInt8 {
  case none
  case whiteSpace
  case object
  case other

  /// Looks at further bytes, as far as that still changes anything.
  mutating func look(at bytes: UnsafeRawBufferPointer) {
    guard self == .none || self == .whiteSpace else { return }
    for byte in bytes {
      switch byte {
      case 0x20, 0x09, 0x0a, 0x0d: self = .whiteSpace
      case UInt8(ascii: "{"): return self = .object
      default: return self = .other
      }
    }
  }
}
