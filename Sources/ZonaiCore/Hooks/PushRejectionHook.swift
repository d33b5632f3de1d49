/// What a hook says about the row.
public enum HookAnswer: String, Sendable, Hashable {
  /// Go on with the job's policy.
  case followPolicy
  /// Leave the row as it is; it is counted as kept.
  case keep
}

/// Called for every permanent rejection, before its row is touched, outside any transaction.
///
/// It runs on a thread of its own and may block. After a crash it may be called again with the same event id. If it throws,
/// or takes longer than `hookTimeoutSeconds`, that is reported and the policy is followed.
public typealias PushRejectionHandler = @Sendable (PushRejection) async throws -> HookAnswer

/// The same as a protocol, for hooks that are types.
public protocol PushRejectionHook: Sendable {
  func onPushRejected(_ rejection: PushRejection) async throws -> HookAnswer
}
