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

  private let permit: HTTP2Permit
  private let stopAfter: (@Sendable (UInt16, UnsafeRawBufferPointer) -> Bool)?
  private let selection: [Int]
  private var cursor = 0
  private var unreported: Int
  private var isStopped = false
  private var outcomes: [HTTP2Outcome]
  private var places: [UInt64]
  private var answers: AnswerArena
  private var failure: HTTPFailure?
  private var goAways: [HTTP2GoAway] = []
  private var continuation: CheckedContinuation<HTTP2BatchResult, Never>?

  init(_ batch: borrowing HTTP2Batch, origin: HTTPOrigin, options: HTTP2Options) {
    let count = batch.values.count
    selection = batch.selection ?? Array(0..<count)
    permit = batch.permit
    stopAfter = batch.stopAfter
    memory = RequestMemory(batch, authority: origin.authority, selection: selection)
    unreported = selection.count
    outcomes = Array(repeating: .notSent(.notSelected), count: count)
    places = Array(repeating: 0, count: count)
    answers = AnswerArena(names: options.keptFields)
    if let bad = batch.fields.first(where: { !$0.isSafe }) {
      let name = bad.name.filter { $0.isASCII && !$0.isWhitespace }
      finishRest(
        .malformed,
        HTTPFailure(.malformedRequest, "the header field \(name) cannot be sent; look for line breaks in it"))
    }
  }

  func start(_ continuation: CheckedContinuation<HTTP2BatchResult, Never>) { self.continuation = continuation }

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
    if let failure, hasMore, self.failure == nil { self.failure = failure }
    while cursor < selection.count {
      report(selection[cursor], .notSent(reason))
      cursor += 1
    }
  }

  func wrote(_ index: Int, place: UInt64) { places[index] = place }

  func report(_ index: Int, _ outcome: HTTP2Outcome) {
    outcomes[index] = outcome
    unreported -= 1
  }

  /// Reports an answer that is more than an acceptance.
  func report(_ index: Int, status: UInt16, fields: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
    report(index, .answered(status))
    answers.add(index, fields: fields, body: body)
    if !isStopped, let stopAfter, stopAfter(status, body) { isStopped = true }
  }

  func note(_ goAway: HTTP2GoAway) { goAways.append(goAway) }

  /// Hands the result over, once.
  func deliver(answers count: UInt64 = 0) {
    let continuation = self.continuation
    self.continuation = nil
    continuation?.resume(
      returning: HTTP2BatchResult(
        outcomes: outcomes, places: places, failure: failure, goAways: goAways, hadAnswers: count > answersBefore,
        answers: answers))
  }
}

extension HTTPField {
  /// Whether HTTP/2 can carry it.
  fileprivate var isSafe: Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !(0x41...0x5a).contains($0) && $0 != 0x3a }
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
  }
}
