/// What a hook did wrong.
public enum HookFailure: Error, Sendable, Hashable {
  /// Its error, in its own words, without the row's token and key.
  case threw(String)
  case timedOut(milliseconds: Int64)
  /// The row could not be made into the application's type.
  case unreadableRow(String)

  init(_ error: any Error, about rejection: PushRejection) {
    self = error as? HookFailure ?? .threw(rejection.words(String(describing: error)))
  }

  static func unreadableRow(_ error: any Error, of rejection: PushRejection) -> HookFailure {
    switch error {
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.keyNotFound(_, let context):
      .unreadableRow(rejection.words(context.debugDescription))
    default: .unreadableRow(rejection.words(String(describing: error)))
    }
  }
}

extension PushRejection {
  /// The application's words, which may quote token and key, without them.
  fileprivate func words(_ words: String) -> String {
    ServiceWords.shortened(words, hidingAll: token.spellings + key.spellings)
  }
}

extension HookFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .threw(let words): "threw: \(words)"
    case .timedOut(let milliseconds): "did not return within \(milliseconds) ms"
    case .unreadableRow(let words): "could not read the row: \(words)"
    }
  }
}
