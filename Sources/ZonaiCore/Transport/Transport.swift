/// One way out to devices: FCM, APNs, or one that you bring.
///
/// A transport renders a message once, sends it to many tokens, and says what each answer means (`Verdict`, by its own
/// table). It resends only what surely was not handled; every other repeat is the engine's decision.
public protocol Transport: Sendable {
  var lane: Lane { get }

  /// Renders the message for this lane, and measures it. Throws when the service would not take it.
  func prepare(_ message: PushMessage) throws(MessageFault) -> PreparedMessage

  /// Sends one message to the batch's tokens, in their order, and gives one answer for each; never throws.
  ///
  /// It opens no request once the batch's permit has lapsed, and stops opening requests after an answer that speaks about
  /// the whole lane or the message; what is in flight is read to its end, what was not opened comes back `notSent`.
  func send(_ batch: PushBatch) async -> PushBatchResult

  /// Ends connections and threads. A batch that is in flight ends as after a lost connection.
  func close() async
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

  public init(fingerprint: String, size: Int, limit: Int, content: any Sendable) {
    self.fingerprint = fingerprint
    self.size = size
    self.limit = limit
    self.content = content
  }
}
