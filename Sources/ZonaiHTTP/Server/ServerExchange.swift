/// A request and the way to answer it: now, later, wrongly or never.
///
/// It belongs to the server's thread. An exchange that is dropped without an answer leaves the client waiting; what
/// comes after the first answer, or after the client went away, does nothing.
public final class ServerExchange {
  public let request: ServerRequest
  public let connection: ServerConnection
  /// The HTTP/2 stream; 0 on HTTP/1.1.
  public let stream: Int32
  /// Whether it was answered, reset, or lost with its connection.
  public internal(set) var isOver = false

  init(request: ServerRequest, connection: ServerConnection, stream: Int32) {
    self.request = request
    self.connection = connection
    self.stream = stream
  }

  /// Sends the answer.
  public func respond(_ response: ServerResponse) {
    guard !isOver else { return }
    isOver = true
    connection.respond(response, to: self)
  }

  /// Sends the answer when that many milliseconds have passed.
  public func respond(_ response: ServerResponse, afterMilliseconds delay: Int) {
    guard delay > 0 else { return respond(response) }
    wait(milliseconds: delay) { self.respond(response) }
  }

  /// Sends the head of the answer and so many bytes of its body, and then closes the connection in
  /// order.
  public func respond(_ response: ServerResponse, cutAfter bodyBytes: Int) {
    guard !isOver else { return }
    isOver = true
    connection.respond(response, to: self, cutAfter: min(bodyBytes, response.body.count))
    connection.close()
  }

  /// Calls back on the server's thread when that many milliseconds have passed, unless the server stops before.
  public func wait(milliseconds: Int, then action: @escaping () -> Void) {
    connection.loop.schedule(afterMilliseconds: milliseconds, action)
  }

  /// Ends the stream with that error code; on HTTP/1.1, which has no streams, drops the connection.
  public func reset(errorCode: UInt32) {
    guard !isOver else { return }
    isOver = true
    connection.reset(self, errorCode: errorCode)
  }

  /// Says GOAWAY so that this stream and all later ones count as never handled; earlier ones are still answered. With
  /// `handlingThis` this one still wants its answer as well. HTTP/1.1 has no such word: there the connection is dropped.
  public func goAway(errorCode: UInt32 = 0, debugData: [UInt8] = [], handlingThis: Bool = false) {
    guard !isOver else { return }
    isOver = !handlingThis
    let last = handlingThis ? stream : max(0, stream - 2)
    connection.goAway(lastStream: last, errorCode: errorCode, debugData: debugData)
  }
}
