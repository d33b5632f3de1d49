import Synchronization

/// What became of each request of a batch, for callers that have nothing to do before all of them
/// are settled.
public struct HTTP2BatchResult: Sendable {
  /// One outcome a value of the batch, in the batch's order.
  public fileprivate(set) var outcomes: [HTTP2Outcome]
  /// The place of each request in the order in which this pool wrote requests, over all batches; 0: never written.
  public fileprivate(set) var places: [UInt64]
  /// The pool's number of the connection that each request was opened on; 0: never opened.
  public fileprivate(set) var connections: [UInt32]
  /// See `HTTP2BatchEnd`.
  public fileprivate(set) var failure: HTTPFailure?
  public fileprivate(set) var goAways: [HTTP2GoAway] = []
  public fileprivate(set) var hadAnswers = false
  fileprivate var answers: [Int: HTTP2Answer] = [:]

  fileprivate init(count: Int) {
    outcomes = Array(repeating: .notSent(.notSelected), count: count)
    places = Array(repeating: 0, count: count)
    connections = Array(repeating: 0, count: count)
  }

  /// What was kept of an answer; nil for a 200 whose body is accepted, and where there was no answer.
  public func answer(_ index: Int) -> HTTP2Answer? { answers[index] }

  fileprivate mutating func take(_ chunk: HTTP2Chunk) {
    for settled in chunk.settled {
      outcomes[settled.request] = settled.outcome
      places[settled.request] = settled.place
      connections[settled.request] = settled.connection
      answers[settled.request] = chunk.answer(to: settled)
    }
  }

  fileprivate mutating func take(_ end: HTTP2BatchEnd) {
    if let reason = end.reason {
      for request in end.unopened { outcomes[request] = .notSent(reason) }
    }
    failure = end.failure
    goAways = end.goAways
    hadAnswers = end.hadAnswers
  }
}

extension HTTP2Pool {
  /// Sends the batch, and returns what became of all its requests when nothing of it is under way
  /// any more.
  public func send(_ batch: HTTP2Batch) async -> HTTP2BatchResult {
    let collector = Collector(batch.values.count)
    let end = await send(batch) { chunk in collector.result.withLock { $0.take(chunk) } }
    return collector.result.withLock { result in
      result.take(end)
      return result
    }
  }

  private final class Collector: Sendable {
    let result: Mutex<HTTP2BatchResult>
    init(_ count: Int) { result = Mutex(HTTP2BatchResult(count: count)) }
  }
}
