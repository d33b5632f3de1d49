import Synchronization

/// The messages of the jobs that are being worked on, rendered once a job and lane.
final class PreparedJobs: Sendable {
  typealias Messages = [TransportName: PreparedMessage]

  /// More than jobs can be under way at once, so that none is rendered twice in a row; a rendering is a few kilobytes.
  private static let limit = 128

  private struct State {
    var messages: [JobID: Messages] = [:]
    /// Oldest first.
    var order: [JobID] = []
  }

  private let transports: [TransportName: any Transport]
  private let state = Mutex(State())

  init(transports: [TransportName: any Transport]) { self.transports = transports }

  /// Renders the job's message on every lane that its audience can reach and this process has, or remembers that it did.
  func messages(of job: Job) throws(MessageFault) -> Messages {
    if let known = state.withLock({ $0.messages[job.id] }) { return known }
    let messages = try render(job.definition.message, on: job.definition.reachedTransports)
    state.withLock { state in
      if state.messages.updateValue(messages, forKey: job.id) == nil { state.order.append(job.id) }
      if state.order.count > PreparedJobs.limit { state.messages[state.order.removeFirst()] = nil }
    }
    return messages
  }

  /// Checks what can be known of the message, then what each lane says to it.
  func render(_ message: PushMessage, on names: Set<TransportName>) throws(MessageFault) -> Messages {
    try MessageRules.validate(message)
    var messages: Messages = [:]
    // In a fixed order, so that of two faults it is always the same one that is told.
    for name in names.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard let transport = transports[name] else { continue }
      messages[name] = try transport.prepare(message)
    }
    return messages
  }
}
