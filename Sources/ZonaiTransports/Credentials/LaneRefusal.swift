import ZonaiCore

/// Why there is no credential to send with; what it means for the job is its verdict.
struct LaneRefusal: Error, Sendable, Hashable {
  let verdict: Verdict

  init(_ verdict: Verdict) { self.verdict = verdict }
}

/// What goes into the `authorization` field of requests.
struct Authorization: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The field's value. The same bytes from batch to batch, so that HTTP/2 sends it as one.
  let field: String
  /// Counts the credentials of a lane, from 1: an answer to an older one says nothing about this one.
  let generation: UInt32

  var description: String { "credential \(generation)" }
  var customMirror: Mirror { Mirror(self, children: ["generation": generation]) }
}
