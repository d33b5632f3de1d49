/// What a protocol does with a connection's bytes. Belongs to the server's thread.
protocol ServerSession: AnyObject {
  /// Whether nothing more will be read or written: the connection may be closed once its output is gone.
  var isFinished: Bool { get }
  /// Takes what arrived. False when the peer broke the protocol: what is left to say is said, then comes the end.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool
  /// Appends what is to be sent, up to about that many bytes.
  func produce(into output: inout [UInt8], limit: Int)
  /// With `cut` only so many bytes of the body are sent, and no end of the answer.
  func respond(_ response: ServerResponse, to exchange: ServerExchange, cutAfter cut: Int?)
  /// False when the protocol cannot end one exchange alone.
  func reset(_ exchange: ServerExchange, errorCode: UInt32) -> Bool
  /// False when the protocol has no such word.
  func goAway(lastStream: Int32, errorCode: UInt32, debugData: [UInt8]) -> Bool
  func limitStreams(to limit: UInt32)
  /// The connection is gone: no exchange will be answered.
  func abandon()
}
