import CZonaiOpenSSL

/// A fresh pair: the private half as the text of a file, the public half to judge by.
struct KeyPair {
  enum Kind {
    /// RSA of 2048 bits, as Google's service accounts have.
    case rsa
    /// P-256, as Apple's keys have.
    case p256
  }

  /// PKCS#8 in PEM.
  let privatePEM: String
  let publicKey: PublicKey

  init(_ kind: Kind) throws(SimulatorError) {
    let made =
      switch kind {
      case .rsa: zonai_openssl_new_rsa_key(2048)
      case .p256: zonai_openssl_new_p256_key()
      }
    guard let made else { throw SimulatorError(.keys, "OpenSSL made no key") }
    defer { EVP_PKEY_free(made) }
    guard let text = BIO_new(BIO_s_mem()) else { throw SimulatorError(.keys, "OpenSSL has no memory left") }
    defer { BIO_free(text) }
    guard PEM_write_bio_PrivateKey(text, made, nil, nil, 0, nil, nil) == 1 else {
      throw SimulatorError(.keys, "OpenSSL did not write a private key")
    }
    var start: UnsafeMutablePointer<CChar>?
    let count = zonai_openssl_bio_bytes(text, &start)
    privatePEM = String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    publicKey = try PublicKey(of: made)
  }
}
