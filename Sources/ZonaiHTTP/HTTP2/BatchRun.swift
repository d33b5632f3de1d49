import CZonaiNGHTTP2
import Synchronization
import ZonaiThreads

/// A batch on its way through the pool.
///
/// @unchecked: the sending task makes it and lets go of it; from then on only the pool's thread touches it, apart from
/// `isCancelled`, which is atomic.
final class BatchRun: @unchecked Sendable {
  let memory: RequestMemory
  let isCancelled = Atomic<Bool>(false)
  /// Streams that nghttp2 still knows: until there are none, the memory must stay.
  var streams = 0
  /// How many answers the pool had when it took the batch.
  var answersBefore: UInt64 = 0
  let route: HTTP2Route
  /// Since when no connection that it may use has room.
  var blockedSince: Int64?

  private let permit: HTTP2Permit
  private let stopAfter: (@Sendable (UInt16, UnsafeRawBufferPointer) -> Bool)?
  private let selection: [Int]
  private var cursor = 0
  private var unreported: Int
  private var isStopped = false
  /// What was settled since the last call of `settled`.
  private var chunk: HTTP2Chunk
  private var firstUnopened: Int
  private var reason: HTTP2Outcome.NotSent?
  private var failure: HTTPFailure?
  private var settled: (@Sendable (HTTP2Chunk) -> Void)?
  private var continuation: CheckedContinuation<HTTP2BatchEnd, Never>?

  init(
    _ batch: borrowing HTTP2Batch, origin: HTTPOrigin, options: HTTP2Options,
    settled: @escaping @Sendable (HTTP2Chunk) -> Void
  ) {
    selection = batch.selection ?? Array(0..<batch.values.count)
    self.settled = settled
    route = batch.route
    permit = batch.permit
    stopAfter = batch.stopAfter
    memory = RequestMemory(batch, authority: origin.authority, selection: selection)
    unreported = selection.count
    firstUnopened = selection.count
    chunk = HTTP2Chunk(names: options.keptFields)
    if let bad = batch.fields.first(where: { !$0.isSafe }) {
      let name = bad.name.filter { $0.isASCII && !$0.isWhitespace }
      finishRest(
        .malformed,
        HTTPFailure(.malformedRequest, "the header field \(name) cannot be sent; look for line breaks in it"))
    }
  }

  func start(_ continuation: CheckedContinuation<HTTP2BatchEnd, Never>) { self.continuation = continuation }

  var isSettled: Bool { unreported == 0 }
  var hasMore: Bool { cursor < selection.count }
  /// How many requests may still have to be opened.
  var remaining: Int { selection.count - cursor }
  var permitEnd: Int64 { permit.end }

  /// The next request that may be opened; requests that may not are settled on the way.
  func next(now: Int64) -> Int? {
    while cursor < selection.count {
      if !mayOpen(now: now) { return nil }
      let index = selection[cursor]
      if memory.isPathSafe(index) { return index }
      cursor += 1
      report(index, .notSent(.malformed))
    }
    return nil
  }

  /// The request that `next` gave was opened.
  func advance() { cursor += 1 }

  /// Settles what is left when nothing more may be opened.
  private func mayOpen(now: Int64) -> Bool {
    if isStopped {
      finishRest(.stopped)
    } else if permit.end <= now || isCancelled.load(ordering: .acquiring) {
      finishRest(.permitEnded)
    } else {
      return true
    }
    return false
  }

  /// Looks whether requests may still be opened, also while none can.
  func checkPermit(now: Int64) { if hasMore { _ = mayOpen(now: now) } }

  /// Settles everything that was not opened.
  func finishRest(_ reason: HTTP2Outcome.NotSent, _ failure: HTTPFailure? = nil) {
    guard hasMore else { return }
    self.reason = reason
    self.failure = self.failure ?? failure
    firstUnopened = cursor
    unreported -= selection.count - cursor
    cursor = selection.count
  }

  func report(_ index: Int, _ outcome: HTTP2Outcome, place: UInt64 = 0, connection: UInt32 = 0) {
    chunk.add(index, outcome, place: place, connection: connection)
    unreported -= 1
  }

  /// Reports an answer that is more than an acceptance.
  func report(
    _ index: Int, status: UInt16, place: UInt64, connection: UInt32, fields: UnsafeRawBufferPointer,
    body: UnsafeRawBufferPointer
  ) {
    chunk.add(index, status: status, place: place, connection: connection, fields: fields, body: body)
    unreported -= 1
    if !isStopped, let stopAfter, stopAfter(status, body) { isStopped = true }
  }

  func note(_ goAway: HTTP2GoAway) { chunk.goAways.append(goAway) }

  /// Hands over what was settled since the last time, and the end once everything is.
  func deliver(answers count: UInt64 = 0) {
    if !chunk.settled.isEmpty {
      settled?(chunk)
      chunk.removeAll()
    }
    guard isSettled, let continuation else { return }
    self.continuation = nil
    settled = nil
    continuation.resume(
      returning: HTTP2BatchEnd(
        unopened: selection[firstUnopened...], reason: reason, failure: failure, goAways: chunk.goAways,
        hadAnswers: count > answersBefore))
  }
}

extension HTTPField {
  /// Whether HTTP/2 can carry it.
  fileprivate var isSafe: Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !(0x41...0x5a).contains($0) && $0 != 0x3a }
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
  }
}
