/// Requests that differ in one value only, such as a device token: POSTs with the same header fields, whose path and body
/// are templates.
///
/// They are opened in the order of `values`. What the server sees of a request is `path` and `body` with the value in
/// their holes; the value must already be fit for both (escaped for JSON, safe in a path).
public struct HTTP2Batch: Sendable {
  /// The path, for example `/3/device/` and a hole.
  public var path: ByteTemplate
  /// The fields of every request; the same bytes from batch to batch cost one byte each on the wire.
  public var fields: [HTTPField]
  public var body: ByteTemplate
  /// One value a request.
  public var values: ByteColumn
  /// Which of the values are sent, in this order; nil sends all. Each index at most once.
  public var selection: [Int]?
  /// Until when requests may be opened; for good by default.
  public var permit: HTTP2Permit
  /// The connections that it is meant for, see `HTTP2Pool.generation`; any by default. When they are replaced, what was not
  /// opened comes back as `stopped`.
  public var generation: UInt64?
  /// Which of the pool's connections carry it; any by default.
  public var route: HTTP2Route
  /// Looks at each answer other than an accepted 200, on the pool's thread; true opens no further request of this batch.
  ///
  /// What is under way is still waited for. It must be quick and must not block: every batch of the pool waits for it.
  public var stopAfter: (@Sendable (_ status: UInt16, _ body: UnsafeRawBufferPointer) -> Bool)?

  public init(
    path: ByteTemplate, fields: [HTTPField], body: ByteTemplate, values: ByteColumn, selection: [Int]? = nil,
    permit: HTTP2Permit = HTTP2Permit(), generation: UInt64? = nil, route: HTTP2Route = .any,
    stopAfter: (@Sendable (_ status: UInt16, _ body: UnsafeRawBufferPointer) -> Bool)? = nil
  ) {
    self.path = path
    self.fields = fields
    self.body = body
    self.values = values
    self.selection = selection
    self.permit = permit
    self.generation = generation
    self.route = route
    self.stopAfter = stopAfter
  }
}

/// Which of a pool's connections carry a batch.
public enum HTTP2Route: Sendable, Hashable {
  case any
  /// Others than these, by their numbers. If there is no other, one is opened, be it one above the
  /// limit; if that brings nothing within two seconds, one of these is used all the same.
  case avoiding(Set<UInt32>)
  /// One that is opened for this batch, carries nothing else, and is closed after it. A pool has
  /// one such connection at a time: later batches wait for it.
  case own
}
