/// What a hook did wrong.
public enum HookFailure: Error, Sendable, Hashable {
  /// Its error, in its own words, with the token taken out.
  case threw(String)
  case timedOut(milliseconds: Int64)
  /// The row could not be made into the application's type.
  case unreadableRow(String)

  init(_ error: any Error, token: DeviceToken) {
    self = error as? HookFailure ?? .threw(HookFailure.words(of: error, without: token))
  }

  static func unreadableRow(_ error: any Error, token: DeviceToken) -> HookFailure {
    if case DecodingError.typeMismatch(_, let context) = error { return .unreadableRow(context.debugDescription) }
    if case DecodingError.valueNotFound(_, let context) = error { return .unreadableRow(context.debugDescription) }
    if case DecodingError.keyNotFound(_, let context) = error { return .unreadableRow(context.debugDescription) }
    return .unreadableRow(words(of: error, without: token))
  }

  /// The application's error may quote the token: that is taken out.
  private static func words(of error: any Error, without token: DeviceToken) -> String {
    ServiceWords.shortened(String(describing: error), hiding: token.bytes[...])
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
