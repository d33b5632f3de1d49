/// Answers of one turn of a transport's loop.
///
/// Each recipient of a batch is named at most once over all its chunks. One that no chunk names was
/// not sent to.
public struct AnswerChunk: Sendable {
  /// Indexes into `PushBatch.tokens`, elements of its selection.
  public var indexes: [Int]
  /// In the same order.
  public var answers: [PushAnswer]

  public init(indexes: [Int] = [], answers: [PushAnswer] = []) {
    self.indexes = indexes
    self.answers = answers
  }

  public var isEmpty: Bool { indexes.isEmpty }

  public mutating func append(_ answer: PushAnswer, for index: Int) {
    indexes.append(index)
    answers.append(answer)
  }

  public mutating func reserve(_ count: Int) {
    indexes.reserveCapacity(count)
    answers.reserveCapacity(count)
  }
}

/// How a send ended, once nothing of its batch is open.
public struct SendEnd: Sendable {
  /// A fault of the lane that no single answer carries: there is no access token, the name does not
  /// resolve. It explains why recipients were not sent to.
  public var laneFault: Verdict?
  /// Whether the lane answered requests of other batches since this send began. While it does, or
  /// answers others of this batch, a request that certainly was not handled is sent again without
  /// using up an attempt.
  public var laneAnswered: Bool

  public init(laneFault: Verdict? = nil, laneAnswered: Bool = false) {
    self.laneFault = laneFault
    self.laneAnswered = laneAnswered
  }
}
