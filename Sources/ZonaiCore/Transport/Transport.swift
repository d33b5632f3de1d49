/// One way out to devices: FCM, APNs, or one that you bring.
///
/// A transport renders a message once, sends it to many tokens, and says what each answer means (`Verdict`, by its own
/// table). It resends only what surely was not handled; every other repeat is the engine's decision.
public protocol Transport: Sendable {
  var lane: Lane { get }

  /// Renders the message for this lane, and measures it. Throws when the service would not take it.
  func prepare(_ message: PushMessage) throws(MessageFault) -> PreparedMessage

  /// Sends one message to the batch's tokens and returns when nothing of the batch is open; never
  /// throws.
  ///
  /// Answers are handed over as they come, in any order, while other requests of the batch are
  /// open: those of one turn of the transport's loop together. Each recipient is named at most
  /// once, and none after the return. One that gets another request within the same call is named
  /// with its last answer. One whose answer is lost is named with that.
  ///
  /// `answered` is called on the transport's own thread, one call at a time. It is quick and does
  /// not block: all batches of the lane wait for it.
  ///
  /// No request is opened once the batch's permit has lapsed or the task is cancelled, nor after an
  /// answer that speaks about the whole lane or the message. What is in flight then is read to its
  /// end; what was not opened is not named.
  func send(_ batch: PushBatch, _ answered: @escaping @Sendable (AnswerChunk) -> Void) async -> SendEnd

  /// Asks about the batch's tokens in the service's other environment, once each, with a push that
  /// shows nothing; one answer for each, in their order; never throws. It is called for messages
  /// whose `otherEnvironment` can be asked, has a time limit of its own, and opens no request once
  /// the batch's permit has lapsed.
  func check(_ batch: PushBatch) async -> [EnvironmentAnswer]

  /// Ends connections and threads. A batch that is in flight ends as after a lost connection.
  func close() async
}

extension Transport {
  /// For services of one environment, whose messages say so: nothing is ever asked.
  public func check(_ batch: PushBatch) async -> [EnvironmentAnswer] {
    Array(repeating: .undecided("the service has no other environment"), count: batch.count)
  }
}

/// A message as one transport will send it.
public struct PreparedMessage: Sendable {
  /// The lane's fingerprint with what the message adds to it: topic and push type.
  public let fingerprint: String
  /// What the service counts against its limit, in bytes.
  public let size: Int
  /// The service's limit, in bytes.
  public let limit: Int
  /// The transport's own rendering.
  public let content: any Sendable
  /// Whether a token that the service calls bad may belong to another environment. The default is a
  /// service of one.
  public let otherEnvironment: OtherEnvironment

  public init(
    fingerprint: String, size: Int, limit: Int, content: any Sendable, otherEnvironment: OtherEnvironment = .none
  ) {
    self.fingerprint = fingerprint
    self.size = size
    self.limit = limit
    self.content = content
    self.otherEnvironment = otherEnvironment
  }
}
