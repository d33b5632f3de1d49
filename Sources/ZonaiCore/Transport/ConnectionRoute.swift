/// Which of a lane's connections carry a batch. A transport whose connections are out of its hands
/// sends as with `any`.
public enum ConnectionRoute: Sendable, Hashable {
  case any
  /// Others than these, by `PushAnswer.Sent.connection`: requests on them were not answered. If all
  /// open ones are among them, a new one is opened, one above the transport's limit if need be. If
  /// that brings nothing within two seconds, the least bad one is used.
  case avoiding(Set<UInt32>)
  /// One that is opened for this batch, carries nothing else, and is closed after it: for requests
  /// that were refused unhandled several times. A lane has one such connection at a time, and later
  /// batches wait for it.
  case own
}
