import CZonaiOpenSSL
import Testing
import ZonaiHTTP

@Suite struct CertificateAuthorityTests {
  @Test(arguments: [
    ("localhost", true), ("fcm.googleapis.com", true), ("127.0.0.1", true), ("example.com", false),
    ("127.0.0.2", false),
  ])
  func `a certificate is good for the names it was issued for`(_ name: String, _ isGood: Bool) throws {
    let authority = try CertificateAuthority()
    let identity = try authority.issue(names: ["localhost", "fcm.googleapis.com"], addresses: ["127.0.0.1"])
    #expect(try verifies(identity.certificatePEM, by: authority.certificatePEM, name: name) == isGood)
  }

  @Test func `another authority of the same name does not vouch for it`() throws {
    let identity = try CertificateAuthority().issue(names: ["localhost"])
    #expect(try !verifies(identity.certificatePEM, by: CertificateAuthority().certificatePEM, name: "localhost"))
  }

  @Test func `the private key stays out of text`() throws {
    let identity = try CertificateAuthority().issue(names: ["localhost"])
    #expect(!"\(identity)".contains("PRIVATE KEY"))
    #expect(identity.privateKeyPEM.contains("BEGIN PRIVATE KEY"))
  }

  @Test func `no names at all is refused`() throws {
    let authority = try CertificateAuthority()
    #expect(throws: OpenSSLError.self) { try authority.issue(names: []) }
  }
}

/// What any TLS client does with a server's certificate.
private func verifies(_ certificate: String, by authority: String, name: String) throws -> Bool {
  let store = X509_STORE_new()
  defer { X509_STORE_free(store) }
  let trusted = try #require(readCertificate(authority))
  defer { X509_free(trusted) }
  let presented = try #require(readCertificate(certificate))
  defer { X509_free(presented) }
  X509_STORE_add_cert(store, trusted)
  let context = X509_STORE_CTX_new()
  defer { X509_STORE_CTX_free(context) }
  X509_STORE_CTX_init(context, store, presented, nil)
  let parameters = X509_STORE_CTX_get0_param(context)
  if name.contains(where: \.isLetter) {
    X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count)
  } else {
    X509_VERIFY_PARAM_set1_ip_asc(parameters, name)
  }
  X509_STORE_CTX_set_default(context, "ssl_server")
  return X509_verify_cert(context) == 1
}

private func readCertificate(_ pem: String) -> OpaquePointer? {
  // The memory BIO copies nothing: the text must outlive it.
  pem.withCString { text in
    let bio = BIO_new_mem_buf(text, -1)
    defer { BIO_free(bio) }
    return PEM_read_bio_X509(bio, nil, nil, nil)
  }
}
