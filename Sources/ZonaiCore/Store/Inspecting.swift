public enum InspectRequest: Sendable {
  /// What the job knows of these groups so far, and what the store remembers of their lanes.
  case witnesses(BatchLease, groups: [Group])
  /// The rows of these rejections, whole, where key, token and last-seen still match.
  case rows(BatchLease, [Rejection])
}

public enum Inspection: Sendable {
  case witnesses([Group: GroupCounts])
  /// One for each rejection asked about, in its order; nil where the row no longer matches.
  case rows([Row?])
}
