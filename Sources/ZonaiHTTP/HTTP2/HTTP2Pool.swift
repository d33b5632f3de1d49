import ZonaiThreads

/// A few HTTP/2 connections to one server, and the thread that drives them: takes requests in batches, and says exactly
/// what became of each.
///
/// It does not send again by itself; it tells what was surely not handled, so that the caller can. It follows the
/// server's SETTINGS, opens another connection when all are full, and waits longer after each connect that failed. As
/// many batches as wanted may be under way; the requests of one are opened in order.
public final class HTTP2Pool: Sendable {
  public let origin: HTTPOrigin
  private let options: HTTP2Options
  private let inbox: PoolInbox
  private let thread: NamedThread

  /// Starts the thread; connections are made when there is something to send.
  ///
  /// Throws when the system has no thread or no descriptor left.
  public init(origin: HTTPOrigin, options: HTTP2Options = HTTP2Options()) throws {
    let inbox = try PoolInbox()
    self.origin = origin
    self.options = options
    self.inbox = inbox
    thread = try NamedThread(name: options.threadName) {
      PoolLoop(origin: origin, options: options, inbox: inbox).run()
    }
  }

  deinit { inbox.askClose() }

  /// Sends the batch, and returns when nothing of it is under way any more.
  ///
  /// `settled` is called once for each turn of the pool's loop that settled requests of the batch.
  /// Each request is named at most once; one that never is, is in the end's `unopened`. The call
  /// comes on the pool's thread: it must be quick and must not block, since every batch of the pool
  /// waits for it. A chunk that is not kept costs no memory of its own.
  ///
  /// Cancelling the task opens no further request; what is under way is still waited for.
  public func send(
    _ batch: HTTP2Batch, _ settled: @escaping @Sendable (HTTP2Chunk) -> Void
  ) async -> HTTP2BatchEnd {
    let run = BatchRun(batch, origin: origin, options: options, settled: settled)
    batch.permit.wakes(inbox.wakePipe)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        run.start(continuation)
        if let refusal = inbox.leave(run, for: batch.generation) {
          run.finishRest(refusal)
          run.deliver()
        }
      }
    } onCancel: {
      run.isCancelled.store(true, ordering: .releasing)
      inbox.wakePipe.wake()
    }
  }

  /// Which connections requests go over now: a count of the times at which new ones were asked for.
  public var generation: UInt64 { inbox.generation }

  /// Opens no further request on the connections that exist; new ones are made. What is under way stays under way, what
  /// waits comes back as `stopped`.
  ///
  /// For credentials to which a connection is bound. With a generation nothing happens when new connections were asked for
  /// since: of several batches that find the old ones spoiled, one has them replaced.
  public func reconnect(since generation: UInt64? = nil) { inbox.askReconnect(since: generation) }

  /// Gives up what is under way, says farewell to the server, and ends the thread. May be called more than once.
  public func close() async {
    inbox.askClose()
    await withCheckedContinuation { inbox.onEnd($0) }
  }
}
