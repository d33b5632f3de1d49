import CZonaiCurl
import CZonaiOpenSSL

/// What the TLS handshake of one connection agreed on. Touched only by the thread that drives the connection.
final class TLSHandshake {
  enum Agreement {
    case pending
    case http2
    case somethingElse
  }

  private(set) var agreement = Agreement.pending
  private let host: String

  /// `host` is the server's, to which a proxy may lead that is spoken to over TLS as well.
  init(host: String) { self.host = host.lowercased() }

  /// Offers HTTP/2 and nothing else in a handshake that libcurl is about to begin.
  ///
  /// libcurl offers h2 only where it means to speak it itself, so the offer is made behind its back. The object must
  /// outlive the connection.
  func attach(to handle: borrowing CurlHandle) throws(HTTPFailure) {
    try handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    try handle.set(CURLOPT_SSL_ENABLE_ALPN, 0)
    try handle.check(
      zonai_curl_set_ssl_context(
        handle.easy,
        { _, context, owner in
          guard let context, zonai_openssl_prepare_http2(OpaquePointer(context), owner, noteHandshake) == 1 else {
            return CURLE_SSL_CONNECT_ERROR
          }
          return CURLE_OK
        }, Unmanaged.passUnretained(self).toOpaque()))
  }

  /// Whether this handshake is the server's and not a proxy's. Addresses are not named in a
  /// handshake.
  fileprivate func isServers(_ ssl: OpaquePointer?) -> Bool {
    guard let name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) else {
      return host.contains(":") || host.utf8.allSatisfy { $0 == 0x2e || (0x30...0x39).contains($0) }
    }
    return String(cString: name).lowercased() == (host.hasSuffix(".") ? String(host.dropLast()) : host)
  }

  fileprivate func finished(with protocolName: UnsafeRawBufferPointer) {
    agreement = protocolName.elementsEqual("h2".utf8) ? .http2 : .somethingElse
  }

  fileprivate func refused() { agreement = .somethingElse }
}

private func noteHandshake(_ ssl: OpaquePointer?, _ moment: Int32, _ value: Int32) {
  guard let owner = zonai_openssl_owner(ssl) else { return }
  let handshake = Unmanaged<TLSHandshake>.fromOpaque(owner).takeUnretainedValue()
  guard handshake.isServers(ssl) else {
    // Before its first message is made. A CONNECT is HTTP/1.1.
    if moment & SSL_CB_HANDSHAKE_START != 0 {
      let http1: [UInt8] = [8] + Array("http/1.1".utf8)
      SSL_set_alpn_protos(ssl, http1, UInt32(http1.count))
    }
    return
  }
  if moment & SSL_CB_HANDSHAKE_DONE != 0 {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &count)
    handshake.finished(with: UnsafeRawBufferPointer(start: name, count: Int(count)))
  } else if moment & SSL_CB_READ_ALERT == SSL_CB_READ_ALERT, value & 0xff == SSL_AD_NO_APPLICATION_PROTOCOL {
    handshake.refused()
  }
}
