import Synchronization
import ZonaiCore

/// What a transport hands over for one batch, as it comes: `transport.send(batch) { log.take($0)
/// }`.
public final class AnswerLog: Sendable {
  private struct State {
    var answers: [Int: PushAnswer] = [:]
    var problems: [String] = []
    var hasReturned = false
  }

  private let selection: [Int]
  private let asked: Set<Int>
  private let state = Mutex(State())
  private let chunkLog = Recording<AnswerChunk>()

  public init(_ batch: PushBatch) {
    selection = batch.selection
    asked = Set(selection)
  }

  /// Every chunk so far.
  public var chunks: [AnswerChunk] { chunkLog.elements }

  /// What a transport must not do: name a recipient twice, or one that was not asked for, or hand
  /// something over after `send` has returned.
  public var problems: [String] { state.withLock { $0.problems } }

  /// One for each element of the selection, in its order; nil for one that was not named so far.
  public var answers: [PushAnswer?] { state.withLock { state in selection.map { state.answers[$0] } } }

  public func take(_ chunk: AnswerChunk) {
    state.withLock { state in
      if state.hasReturned { state.problems.append("answers came after the return") }
      if chunk.indexes.count != chunk.answers.count {
        state.problems.append("\(chunk.answers.count) answers came for \(chunk.indexes.count) recipients")
      }
      for (index, answer) in zip(chunk.indexes, chunk.answers) {
        if !asked.contains(index) { state.problems.append("recipient \(index) was named and not asked for") }
        if state.answers[index] != nil { state.problems.append("recipient \(index) was named twice") }
        state.answers[index] = answer
      }
    }
    chunkLog.append(chunk)
  }

  /// Returns once the answers that came fulfil the condition, which is asked at once and after each
  /// chunk.
  public func wait(until condition: @escaping @Sendable ([PushAnswer?]) -> Bool) async {
    await chunkLog.wait { [self] _ in condition(answers) }
  }

  /// What came, once `send` has returned.
  public func end(_ end: SendEnd) -> CollectedSend {
    state.withLock { $0.hasReturned = true }
    return CollectedSend(answers: answers, laneFault: end.laneFault, laneAnswered: end.laneAnswered)
  }
}

/// The answers of one send, put together.
public struct CollectedSend: Sendable {
  /// One for each element of the batch's selection, in its order; nil for a recipient that was not
  /// sent to.
  public var answers: [PushAnswer?]
  public var laneFault: Verdict?
  public var laneAnswered: Bool
}

extension Transport {
  /// Sends the batch, and puts its answers together.
  public func collect(_ batch: PushBatch) async -> CollectedSend {
    let log = AnswerLog(batch)
    return log.end(await send(batch) { log.take($0) })
  }
}
