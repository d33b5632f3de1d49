/// A client's connection. Belongs to the server's thread.
public final class ServerConnection {
  /// Open until the protocol is finished or broken, then `closing` until the output is gone, then `lingering` until the
  /// client has closed as well (or for a second), then `closed`.
  private enum State {
    case open
    case closing
    case lingering
    case closed
  }

  /// Tells connections of one server apart; never used twice.
  public let id: UInt64
  /// What it speaks; nil before the handshake is done.
  public private(set) var speaks: ServerProtocol?
  /// The handler's own notes about this connection.
  public var notes: AnyObject?

  let service: ServerService
  let descriptor: Int32
  unowned let loop: ServerLoop
  private var tls: TLSStream?
  private var session: (any ServerSession)?
  private var state = State.open
  private var output: [UInt8] = []
  private var sent = 0

  init(id: UInt64, descriptor: Int32, service: ServerService, tls: ServerTLS?, loop: ServerLoop) throws(OpenSSLError) {
    self.id = id
    self.descriptor = descriptor
    self.service = service
    self.loop = loop
    if let tls {
      self.tls = try TLSStream(tls)
    } else {
      begin(.http1)
    }
  }

  /// Lets the client have that many streams open at once from now on. What is over the limit before the client has
  /// taken note is refused with REFUSED_STREAM; a client that goes over it knowingly loses the connection.
  public func limitStreams(to limit: UInt32) {
    session?.limitStreams(to: limit)
    loop.flushLater(self)
  }

  /// Closes the connection at once, with a TCP reset, whatever is open on it.
  public func drop() { finish(abruptly: true) }

  /// Closes the connection in order, once what is ready to be sent is sent.
  public func close() {
    if state == .open { state = .closing }
    loop.flushLater(self)
  }

  // What the loop asks and calls.

  /// Kept by the loop.
  var isInFlushQueue = false
  var wantsWrite: Bool { sent < output.count }
  /// A client that sends requests without reading answers is not read from either.
  var wantsRead: Bool { output.count - sent < 1 << 20 }

  func readable(_ space: UnsafeMutableRawBufferPointer, _ clear: UnsafeMutableRawBufferPointer) {
    // A few reads in a row, so that one busy client does not keep the others waiting.
    for _ in 0..<4 {
      guard state != .closed else { return }
      switch ServerSocket.read(descriptor, into: space) {
      case .wouldBlock: return
      case .closed: return finish()
      case .bytes(let count):
        if state == .open { take(UnsafeRawBufferPointer(rebasing: space[..<count]), clear) }
        if count < space.count { return }
      }
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer, _ clear: UnsafeMutableRawBufferPointer) {
    loop.flushLater(self)
    guard tls != nil else { return consume(bytes) }
    guard tls?.feed(bytes) == true else { return finish() }
    while state == .open {
      switch tls?.read(into: clear) {
      case .bytes(let count):
        beginAfterHandshake()
        consume(UnsafeRawBufferPointer(rebasing: clear[..<count]))
      case .nothingYet:
        return beginAfterHandshake()
      case .end, nil:
        state = .closing
      }
    }
  }

  private func beginAfterHandshake() {
    guard session == nil, tls?.isHandshakeDone == true else { return }
    switch (tls?.chosenProtocol, service.protocols) {
    case (let chosen?, _): begin(chosen)
    case (nil, .http2): begin(.http2)
    case (nil, _): begin(.http1)
    }
  }

  private func begin(_ chosen: ServerProtocol) {
    speaks = chosen
    session = chosen == .http2 ? ServerHTTP2Session(connection: self) : ServerHTTP1Session(connection: self)
  }

  private func consume(_ bytes: UnsafeRawBufferPointer) {
    guard session?.receive(bytes) == true else {
      // What the protocol wants to say about the mistake still goes out.
      if state == .open { state = .closing }
      return
    }
  }

  /// Sends what the session has, as far as the socket takes it.
  func flush() {
    guard state == .open || state == .closing else { return }
    while true {
      if output.count - sent < 256 << 10 { produce() }
      guard wantsWrite else { break }
      let written = output.withUnsafeBytes {
        ServerSocket.write(descriptor, UnsafeRawBufferPointer(rebasing: $0[sent...]))
      }
      switch written {
      case .bytes(let count): sent += count
      case .wouldBlock: return
      case .closed: return finish()
      }
      if sent == output.count {
        output.removeAll(keepingCapacity: true)
        sent = 0
      }
    }
    if state == .closing || session?.isFinished == true { linger() }
  }

  private func produce() {
    if tls == nil {
      session?.produce(into: &output, limit: output.count + 64 << 10)
      return
    }
    var clear: [UInt8] = []
    if tls?.isHandshakeDone == true { session?.produce(into: &clear, limit: 64 << 10) }
    if tls?.write(clear) == false { state = .closing }
    tls?.drain(into: &output)
  }

  private func linger() {
    tls?.close()
    tls?.drain(into: &output)
    // A client that no longer reads misses the farewell, and nothing else.
    _ = output.withUnsafeBytes { ServerSocket.write(descriptor, UnsafeRawBufferPointer(rebasing: $0[sent...])) }
    output = []
    sent = 0
    state = .lingering
    session?.abandon()
    ServerSocket.finishWriting(descriptor)
    loop.schedule(afterMilliseconds: 1000) { [weak self] in self?.finish() }
  }

  func finish(abruptly: Bool = false) {
    guard state != .closed else { return }
    state = .closed
    output = []
    sent = 0
    session?.abandon()
    ServerSocket.end(descriptor, abruptly: abruptly)
    loop.forget(self)
  }

  // What exchanges ask for.

  func respond(_ response: ServerResponse, to exchange: ServerExchange, cutAfter cut: Int? = nil) {
    session?.respond(response, to: exchange, cutAfter: cut)
    loop.flushLater(self)
  }

  func reset(_ exchange: ServerExchange, errorCode: UInt32) {
    guard session?.reset(exchange, errorCode: errorCode) == true else { return drop() }
    loop.flushLater(self)
  }

  func goAway(lastStream: Int32, errorCode: UInt32, debugData: [UInt8]) {
    guard session?.goAway(lastStream: lastStream, errorCode: errorCode, debugData: debugData) == true else {
      return drop()
    }
    loop.flushLater(self)
  }
}
