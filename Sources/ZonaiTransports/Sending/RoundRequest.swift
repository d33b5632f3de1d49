import ZonaiCore
import ZonaiHTTP

/// One round as the pool takes it: what all requests of a send call have in common.
struct RoundRequest {
  var path: ByteTemplate
  var fields: [HTTPField]
  var body: ByteTemplate
  /// The tokens of the whole page, by index.
  var values: ByteColumn
  var permit: HTTP2Permit
  /// The pool's connections that it is meant for; any by default.
  var generation: UInt64?

  /// `pending` are indexes into the batch's tokens.
  func batch<Reader: AnswerReader>(
    _ pending: [Int], of batch: PushBatch, reader: Reader.Type
  ) -> HTTP2Batch {
    HTTP2Batch(
      path: path, fields: fields, body: body, values: values, selection: pending, permit: permit,
      generation: generation, route: HTTP2Route(batch.route),
      stopAfter: { status, body in RoundRequest.stops(status, body, Reader.self) })
  }

  /// Whether an answer speaks about the whole lane or the message, so that nothing more is to be
  /// opened after it. A 429 that is not about one device does.
  ///
  /// The header fields are not at hand here. An empty body counts as the service's own; where it was not, the reading of
  /// the whole answer says so.
  private static func stops<Reader: AnswerReader>(
    _ status: UInt16, _ body: UnsafeRawBufferPointer, _: Reader.Type
  ) -> Bool {
    if status >= 500 { return false }
    let verdict = Reader.verdict(status: Int(status), body: ArraySlice(body), field: { _ in "" }, token: nil)
    return verdict.outcome == .jobFails || verdict.slowsLane
  }
}

extension HTTP2Route {
  fileprivate init(_ route: ConnectionRoute) {
    switch route {
    case .any: self = .any
    case .avoiding(let connections): self = .avoiding(connections)
    case .own: self = .own
    }
  }
}

extension HTTP2Permit {
  /// A permit for the pool that ends when the engine's does.
  convenience init(following permit: SendPermit) {
    self.init(until: .min)
    permit.follow { self.move(to: $0) }
  }
}
