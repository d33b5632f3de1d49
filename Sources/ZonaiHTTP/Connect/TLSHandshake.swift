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

  fileprivate func finished(with protocolName: UnsafeRawBufferPointer) {
    agreement = protocolName.elementsEqual("h2".utf8) ? .http2 : .somethingElse
  }

  fileprivate func refused() { agreement = .somethingElse }
}

private func noteHandshake(_ ssl: OpaquePointer?, _ moment: Int32, _ value: Int32) {
  guard let owner = zonai_openssl_owner(ssl) else { return }
  let handshake = Unmanaged<TLSHandshake>.fromOpaque(owner).takeUnretainedValue()
  if moment & SSL_CB_HANDSHAKE_DONE != 0 {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &count)
    handshake.finished(with: UnsafeRawBufferPointer(start: name, count: Int(count)))
  } else if moment & SSL_CB_READ_ALERT == SSL_CB_READ_ALERT, value & 0xff == SSL_AD_NO_APPLICATION_PROTOCOL {
    handshake.refused()
  }
}
