/// What became of some requests of a batch: those that were settled in one turn of the pool's loop.
public struct HTTP2Chunk: Sendable {
  /// One request that is settled.
  public struct Settled: Sendable {
    /// Its index into the batch's values.
    public let request: Int
    /// `notSent` only for one whose path cannot be put on the wire.
    public let outcome: HTTP2Outcome
    /// Its place in the order in which the pool wrote requests, over all batches; 0: never written.
    public let place: UInt64
    /// The pool's number of the connection that it was opened on, counted from 1; 0: never opened.
    public let connection: UInt32
    /// Where its answer is kept; negative if nothing is.
    fileprivate let answer: Int32
  }

  public private(set) var settled: [Settled] = []
  /// What servers have said so far when they ended connections that carried requests of the batch.
  public internal(set) var goAways: [HTTP2GoAway] = []
  private var answers: AnswerArena

  init(names: [String]) { answers = AnswerArena(names: names) }

  /// What was kept of an answer; nil for a 200 whose body is accepted, and if there was no answer.
  public func answer(to settled: Settled) -> HTTP2Answer? {
    settled.answer < 0 ? nil : answers[Int(settled.answer)]
  }

  mutating func add(_ request: Int, _ outcome: HTTP2Outcome, place: UInt64, connection: UInt32) {
    settled.append(Settled(request: request, outcome: outcome, place: place, connection: connection, answer: -1))
  }

  /// Adds an answer that is more than an acceptance.
  mutating func add(
    _ request: Int, status: UInt16, place: UInt64, connection: UInt32, fields: UnsafeRawBufferPointer,
    body: UnsafeRawBufferPointer
  ) {
    let answer = Int32(answers.add(fields: fields, body: body))
    settled.append(
      Settled(request: request, outcome: .answered(status), place: place, connection: connection, answer: answer))
  }

  /// Makes room for the next turn, in the same memory if nothing has kept this one.
  mutating func removeAll() {
    settled.removeAll(keepingCapacity: true)
    answers.removeAll()
  }
}

/// How a batch ended, once nothing of it is under way.
public struct HTTP2BatchEnd: Sendable {
  /// The requests that were never opened, in the batch's order.
  public let unopened: ArraySlice<Int>
  /// Why they were not; nil if there are none.
  public let reason: HTTP2Outcome.NotSent?
  /// Why requests could not be sent for want of a connection, or at all; nil when that was not so.
  public let failure: HTTPFailure?
  /// What servers said when they ended connections that had carried requests of this batch.
  public let goAways: [HTTP2GoAway]
  /// Whether the server answered a request of any batch, below 500, since the pool took this one.
  public let hadAnswers: Bool
}

/// What a server said when it ended a connection.
public struct HTTP2GoAway: Sendable, Hashable {
  /// HTTP/2's error code; 0 is an orderly end.
  public let code: UInt32
  /// The highest stream that it looked at.
  public let lastStream: Int32
  /// The server's own words: APNs sends the JSON of an error here. At most 4 KiB are kept.
  public let debugData: [UInt8]
}
