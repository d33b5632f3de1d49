/// Whether a token that the service calls bad may belong to another environment of the same
/// service.
///
/// A delivery to another device says nothing about the environment of this token, and tables mix
/// both: a token of a development build in a production table is alive.
public enum OtherEnvironment: Sendable, Hashable {
  /// The service has one environment, or the configuration says that all tokens are of this one.
  case none
  /// `Transport.check` asks there before such a token is believed dead.
  case canBeAsked
  /// There is another environment, and it cannot be asked. Such tokens are kept; the clause says
  /// why.
  case cannotBeAsked(String)
}

/// What the other environment says about one token.
public enum EnvironmentAnswer: Sendable, Hashable {
  /// The other environment does not know the token either: it is dead.
  case unknownThere
  /// The token is alive there. The verdict names the setting; it is a fault of the configuration.
  case aliveThere(Verdict)
  /// No answer that decides; the row is kept, and the clause says why. One of few, since counts are
  /// kept by it.
  case undecided(String)
  /// No request was opened: the permit lapsed before.
  case notAsked
}

/// A request to count checks in the other environment before they are made.
public struct CheckBudgetRequest: Sendable {
  /// How many tokens of one job are asked about in the other environment within an hour, by all
  /// workers together. Each check is a push of its own, and Apple counts pushes to bad tokens
  /// against the sender.
  public static let perJobAndHour = 200

  public var lease: BatchLease
  public var wanted: Int

  public init(lease: BatchLease, wanted: Int) {
    self.lease = lease
    self.wanted = wanted
  }
}

/// The checks that a job made within the present hour.
public struct CheckBudget: Sendable, Hashable {
  public static let hour: Int64 = 3_600_000

  /// When the hour began, in milliseconds since 1970 by the store's clock.
  public var since: Int64
  public var used: Int

  public init(since: Int64 = 0, used: Int = 0) {
    self.since = since
    self.used = used
  }

  /// Takes as many checks as are left of those wanted. The first check after an hour begins a new
  /// one.
  public mutating func take(_ wanted: Int, now: Int64) -> Int {
    if now - since >= CheckBudget.hour || now < since { self = CheckBudget(since: now) }
    let granted = max(0, min(wanted, CheckBudgetRequest.perJobAndHour - used))
    used += granted
    return granted
  }
}
