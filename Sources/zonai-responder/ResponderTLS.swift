import CZonaiOpenSSL
import ZonaiHTTP

/// TLS as the services speak it: 1.2 or later, HTTP/2 by ALPN, HTTP/1.1 for the token endpoint.
enum ResponderTLS {
  static func context(_ identity: ServerIdentity) throws -> OpaquePointer {
    guard let context = SSL_CTX_new(TLS_server_method()) else {
      throw ResponderError(description: "cannot make a TLS context")
    }
    guard let certificate = read(identity.certificatePEM, { PEM_read_bio_X509($0, nil, nil, nil) }),
      let key = read(identity.privateKeyPEM, { PEM_read_bio_PrivateKey($0, nil, nil, nil) })
    else { throw ResponderError(description: "cannot read the throwaway certificate") }
    defer {
      X509_free(certificate)
      EVP_PKEY_free(key)
    }
    guard SSL_CTX_use_certificate(context, certificate) == 1, SSL_CTX_use_PrivateKey(context, key) == 1 else {
      throw ResponderError(description: "the throwaway certificate and its key do not belong together")
    }
    SSL_CTX_ctrl(context, SSL_CTRL_SET_READ_AHEAD, 1, nil)
    SSL_CTX_set_default_read_buffer_len(context, 65_536)
    SSL_CTX_set_alpn_select_cb(context, selectProtocol, nil)
    return context
  }

  private static func read(_ text: String, _ parse: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    text.withCString { bytes in
      guard let bio = BIO_new_mem_buf(bytes, -1) else { return nil }
      defer { BIO_free(bio) }
      return parse(bio)
    }
  }
}

private let selectProtocol:
  @convention(c) (
    OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
    UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
  ) -> Int32 = { _, chosen, chosenLength, offered, offeredLength, _ in
    guard let offered, let chosen, let chosenLength else { return SSL_TLSEXT_ERR_NOACK }
    for wanted in [Array("h2".utf8), Array("http/1.1".utf8)] {
      var at = 0
      while at < Int(offeredLength) {
        let length = Int(offered[at])
        if length == wanted.count, (0..<length).allSatisfy({ offered[at + 1 + $0] == wanted[$0] }) {
          chosen.pointee = offered + at + 1
          chosenLength.pointee = UInt8(length)
          return SSL_TLSEXT_ERR_OK
        }
        at += 1 + length
      }
    }
    return SSL_TLSEXT_ERR_NOACK
  }
