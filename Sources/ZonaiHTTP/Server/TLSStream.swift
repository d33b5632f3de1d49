import CZonaiOpenSSL

/// The server's side of one TLS connection, between bytes in memory: it never touches the socket, so it never blocks.
struct TLSStream: ~Copyable {
  private let handle: OpaquePointer
  /// Owned by `handle`.
  private let incoming: OpaquePointer
  private let outgoing: OpaquePointer

  init(_ tls: ServerTLS) throws(OpenSSLError) {
    guard let handle = SSL_new(tls.context), let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem())
    else { throw OpenSSLError("set a TLS connection up") }
    self.handle = handle
    self.incoming = incoming
    self.outgoing = outgoing
    SSL_set_bio(handle, incoming, outgoing)
    SSL_set_accept_state(handle)
  }

  deinit { SSL_free(handle) }

  var isHandshakeDone: Bool { SSL_is_init_finished(handle) == 1 }

  /// What ALPN agreed on; nil when the client offered nothing.
  var chosenProtocol: ServerProtocol? {
    var start: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(handle, &start, &count)
    guard let start, count > 0 else { return nil }
    return UnsafeBufferPointer(start: start, count: Int(count)).elementsEqual("h2".utf8) ? .http2 : .http1
  }

  /// Takes what arrived from the socket.
  func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
    BIO_write(incoming, bytes.baseAddress, Int32(bytes.count)) == Int32(bytes.count)
  }

  enum Reading {
    case bytes(Int)
    case nothingYet
    /// The client said that it is done, or broke the protocol; an alert may wait to be sent.
    case end
  }

  /// Goes on with the handshake, and decrypts into `space`.
  func read(into space: UnsafeMutableRawBufferPointer) -> Reading {
    ERR_clear_error()
    let count = SSL_read(handle, space.baseAddress, Int32(space.count))
    if count > 0 { return .bytes(Int(count)) }
    return SSL_get_error(handle, count) == SSL_ERROR_WANT_READ ? .nothingYet : .end
  }

  /// Encrypts all of it.
  func write(_ bytes: [UInt8]) -> Bool {
    ERR_clear_error()
    return bytes.isEmpty || SSL_write(handle, bytes, Int32(bytes.count)) == Int32(bytes.count)
  }

  /// Says that nothing more will come.
  func close() {
    if isHandshakeDone { SSL_shutdown(handle) }
    ERR_clear_error()
  }

  /// Appends what is to be sent to the socket.
  func drain(into output: inout [UInt8]) {
    let count = BIO_ctrl_pending(outgoing)
    guard count > 0 else { return }
    let start = output.count
    output.append(contentsOf: repeatElement(0, count: count))
    let read = output.withUnsafeMutableBytes { bytes in
      BIO_read(outgoing, bytes.baseAddress.map { $0 + start }, Int32(count))
    }
    output.removeLast(count - max(0, Int(read)))
  }
}
