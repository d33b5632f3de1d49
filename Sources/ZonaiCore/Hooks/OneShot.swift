import Synchronization

/// A value that several may offer and one task awaits: the first offer counts.
final class OneShot<Value: Sendable>: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<Value, Never>)
    case offered(Value)
    case taken
  }

  private let state = Mutex(State.open)

  /// Whether this was the first offer.
  @discardableResult
  func offer(_ value: Value) -> Bool {
    let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Value, Never>?) in
      switch state {
      case .open:
        state = .offered(value)
        return (true, nil)
      case .awaited(let continuation):
        state = .taken
        return (true, continuation)
      case .offered, .taken:
        return (false, nil)
      }
    }
    continuation?.resume(returning: value)
    return isFirst
  }

  /// To be awaited once.
  var value: Value {
    get async {
      await withCheckedContinuation { continuation in
        let offered = state.withLock { state -> Value? in
          if case .offered(let value) = state {
            state = .taken
            return value
          }
          state = .awaited(continuation)
          return nil
        }
        if let offered { continuation.resume(returning: offered) }
      }
    }
  }
}
