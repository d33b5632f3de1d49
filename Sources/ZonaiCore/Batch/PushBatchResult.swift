import Synchronization

/// The answers of one send, put together.
public struct PushBatchResult: Sendable {
  /// One for each element of the batch's selection, in its order; nil for a recipient that was not
  /// sent to.
  public var answers: [PushAnswer?]
  public var laneFault: Verdict?
  public var laneAnswered: Bool
  /// How many answers were for recipients that were not asked for, or had one already.
  public var strays: Int

  public init(
    answers: [PushAnswer?], laneFault: Verdict? = nil, laneAnswered: Bool = false, strays: Int = 0
  ) {
    self.answers = answers
    self.laneFault = laneFault
    self.laneAnswered = laneAnswered
    self.strays = strays
  }

  public static func nothingSent(_ count: Int, because fault: Verdict?) -> PushBatchResult {
    PushBatchResult(answers: Array(repeating: nil, count: count), laneFault: fault)
  }
}

extension Transport {
  /// Sends the batch, and gives all its answers together.
  func sendAll(_ batch: PushBatch) async -> PushBatchResult {
    let collector = AnswerCollector(batch)
    let end = await send(batch) { collector.take($0) }
    return collector.result(end)
  }
}

private final class AnswerCollector: Sendable {
  private enum Entry {
    case notAsked
    case open
    case answered(PushAnswer)
  }

  private struct State {
    /// One for each of the page's tokens.
    var entries: [Entry]
    var strays = 0
  }

  private let selection: [Int]
  private let state: Mutex<State>

  init(_ batch: PushBatch) {
    selection = batch.selection
    var entries = Array(repeating: Entry.notAsked, count: batch.tokens.count)
    for index in selection { entries[index] = .open }
    state = Mutex(State(entries: entries))
  }

  func take(_ chunk: AnswerChunk) {
    state.withLock { state in
      for (index, answer) in zip(chunk.indexes, chunk.answers) {
        guard state.entries.indices.contains(index), case .open = state.entries[index] else {
          state.strays += 1
          continue
        }
        state.entries[index] = .answered(answer)
      }
    }
  }

  func result(_ end: SendEnd) -> PushBatchResult {
    state.withLock { state in
      let answers = selection.map { index -> PushAnswer? in
        if case .answered(let answer) = state.entries[index] { answer } else { nil }
      }
      return PushBatchResult(
        answers: answers, laneFault: end.laneFault, laneAnswered: end.laneAnswered, strays: state.strays)
    }
  }
}
