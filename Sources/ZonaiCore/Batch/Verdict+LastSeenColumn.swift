extension Verdict {
  /// The verdict in the light of the row's last-seen column, as it was read.
  func considering(lastSeen: Value?) -> Verdict { self }
}
