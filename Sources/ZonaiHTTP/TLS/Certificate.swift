import CZonaiOpenSSL

/// An X.509 certificate in the making.
struct Certificate: ~Copyable {
  private let handle: OpaquePointer

  /// An empty one.
  init() throws(OpenSSLError) {
    guard let handle = X509_new() else { throw OpenSSLError("make a certificate") }
    self.handle = handle
  }

  init(pem: String) throws(OpenSSLError) {
    let text = try MemoryBIO()
    try text.write(pem)
    guard let handle = PEM_read_bio_X509(text.handle, nil, nil, nil) else { throw OpenSSLError("read a certificate") }
    self.handle = handle
  }

  deinit { X509_free(handle) }

  func fill(subject: String, key: borrowing PrivateKey, validDays: Int) throws(OpenSSLError) {
    var serial: UInt64 = 0
    let filled = withUnsafeMutableBytes(of: &serial) { bytes in
      RAND_bytes(bytes.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(bytes.count))
    }
    let name = X509_NAME_new()
    defer { X509_NAME_free(name) }
    // A common name holds 64 characters at most; nobody reads it where the alternative names say the same.
    let common = Array(subject.utf8.prefix(64))
    guard filled == 1,
      X509_set_version(handle, 2) == 1,
      // The top bit is cleared: a serial number is positive.
      ASN1_INTEGER_set_uint64(X509_get_serialNumber(handle), serial >> 1) == 1,
      X509_gmtime_adj(X509_getm_notBefore(handle), -3600) != nil,
      X509_gmtime_adj(X509_getm_notAfter(handle), validDays * 86_400) != nil,
      X509_NAME_add_entry_by_NID(name, NID_commonName, asciiText, common, Int32(common.count), -1, 0) == 1,
      X509_set_subject_name(handle, name) == 1,
      X509_set_pubkey(handle, key.handle) == 1
    else { throw OpenSSLError("fill in a certificate") }
  }

  func add(_ name: String, _ number: Int32, _ value: String, issuer: borrowing Certificate) throws(OpenSSLError) {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer.handle, handle, nil, nil, 0)
    guard let made = X509V3_EXT_conf_nid(nil, &context, number, value) else {
      throw OpenSSLError("make the certificate's \(name) out of \(value)")
    }
    defer { X509_EXTENSION_free(made) }
    guard X509_add_ext(handle, made, -1) == 1 else { throw OpenSSLError("add \(name) to a certificate") }
  }

  func sign(issuer: borrowing Certificate, key: borrowing PrivateKey) throws(OpenSSLError) {
    guard X509_set_issuer_name(handle, X509_get_subject_name(issuer.handle)) == 1,
      X509_sign(handle, key.handle, EVP_sha256()) > 0
    else { throw OpenSSLError("sign a certificate") }
  }

  /// Has servers of that TLS context show the certificate.
  func serve(with key: borrowing PrivateKey, in context: OpaquePointer) throws(OpenSSLError) {
    guard SSL_CTX_use_certificate(context, handle) == 1, SSL_CTX_use_PrivateKey(context, key.handle) == 1,
      SSL_CTX_check_private_key(context) == 1
    else { throw OpenSSLError("use a certificate and its key for TLS") }
  }

  func pem() throws(OpenSSLError) -> String {
    let text = try MemoryBIO()
    guard PEM_write_bio_X509(text.handle, handle) == 1 else { throw OpenSSLError("write a certificate as PEM") }
    return text.contents
  }
}

/// MBSTRING_ASC, a macro that Swift does not import.
private let asciiText = Int32(0x1000 | 1)

/// A P-256 key.
struct PrivateKey: ~Copyable {
  let handle: OpaquePointer

  init() throws(OpenSSLError) {
    guard let handle = zonai_openssl_new_p256_key() else { throw OpenSSLError("make a P-256 key") }
    self.handle = handle
  }

  init(pem: String) throws(OpenSSLError) {
    let text = try MemoryBIO()
    try text.write(pem)
    guard let handle = PEM_read_bio_PrivateKey(text.handle, nil, nil, nil) else {
      throw OpenSSLError("read a private key")
    }
    self.handle = handle
  }

  deinit { EVP_PKEY_free(handle) }

  func pem() throws(OpenSSLError) -> String {
    let text = try MemoryBIO()
    guard PEM_write_bio_PrivateKey(text.handle, handle, nil, nil, 0, nil, nil) == 1 else {
      throw OpenSSLError("write a private key as PEM")
    }
    return text.contents
  }
}

/// Text that OpenSSL reads from or writes to.
struct MemoryBIO: ~Copyable {
  let handle: OpaquePointer

  /// Empty, to be written to.
  init() throws(OpenSSLError) {
    guard let handle = BIO_new(BIO_s_mem()) else { throw OpenSSLError("set memory aside") }
    self.handle = handle
  }

  func write(_ text: String) throws(OpenSSLError) {
    let bytes = Array(text.utf8)
    guard BIO_write(handle, bytes, Int32(bytes.count)) == Int32(bytes.count) else { throw OpenSSLError("copy text") }
  }

  deinit { BIO_free(handle) }

  var contents: String {
    var bytes: UnsafeMutablePointer<CChar>?
    let count = zonai_openssl_bio_bytes(handle, &bytes)
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  }
}
