/// What a batch knows of one group.
struct BatchGroup: Sendable {
  let group: Group
  /// Deliveries in this claim.
  var delivered = 0
  /// What the job and the store knew when they were asked; nothing before.
  var counts = GroupCounts()
}
