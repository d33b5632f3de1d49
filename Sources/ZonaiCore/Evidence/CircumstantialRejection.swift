/// A rejection that may be about the message or the lane instead of the token. The store decides it
/// in the settling transaction (`BatchAnswers.weighed`), where the job's counts cannot change
/// meanwhile.
public struct CircumstantialRejection: Sendable, Hashable {
  /// What is recorded if the evidence suffices.
  public var rejection: Rejection
  /// How the recipient stays owed if the guard holds its group back.
  public var owed: OwedRecipient
  /// Why the row is kept even with a witness; nil when a witness suffices.
  public var keptBecause: String?

  public init(rejection: Rejection, owed: OwedRecipient, keptBecause: String? = nil) {
    self.rejection = rejection
    self.owed = owed
    self.keptBecause = keptBecause
  }
}
