import CZonaiOpenSSL

/// What all TLS connections of a service share: certificate, key, and the protocols that are offered.
///
/// @unchecked: made on one thread, then used by the server's thread alone.
final class ServerTLS: @unchecked Sendable {
  let context: OpaquePointer
  /// The protocols in ALPN's wire form, at an address that stays.
  private let protocols: UnsafeMutableBufferPointer<UInt8>

  init(_ identity: ServerIdentity, protocols: ServerService.Protocols) throws(OpenSSLError) {
    guard let context = SSL_CTX_new(TLS_server_method()) else { throw OpenSSLError("set TLS up") }
    self.context = context
    let names =
      switch protocols {
      case .http1: ["http/1.1"]
      case .http2: ["h2"]
      case .either: ["h2", "http/1.1"]
      }
    let wire = names.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    self.protocols = .allocate(capacity: wire.count)
    _ = self.protocols.initialize(from: wire)
    let certificate = try Certificate(pem: identity.certificatePEM)
    let key = try PrivateKey(pem: identity.privateKeyPEM)
    try certificate.serve(with: key, in: context)
    // SSL_CTX_set_min_proto_version is a macro over this.
    guard SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil) == 1 else {
      throw OpenSSLError("ask for TLS 1.2")
    }
    SSL_CTX_set_alpn_select_cb(context, selectProtocol, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    SSL_CTX_free(context)
    protocols.deallocate()
  }

  fileprivate func select(
    _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ count: UnsafeMutablePointer<UInt8>?,
    from offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32
  ) -> Int32 {
    var start: UnsafeMutablePointer<UInt8>?
    let result = SSL_select_next_proto(
      &start, count, protocols.baseAddress, UInt32(protocols.count), offered, offeredCount)
    guard result == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    chosen?.pointee = UnsafePointer(start)
    return SSL_TLSEXT_ERR_OK
  }
}

private func selectProtocol(
  _: OpaquePointer?, chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: UnsafeMutablePointer<UInt8>?,
  offered: UnsafePointer<UInt8>?, offeredCount: UInt32, owner: UnsafeMutableRawPointer?
) -> Int32 {
  guard let owner else { return SSL_TLSEXT_ERR_ALERT_FATAL }
  return Unmanaged<ServerTLS>.fromOpaque(owner).takeUnretainedValue().select(chosen, count, from: offered, offeredCount)
}
