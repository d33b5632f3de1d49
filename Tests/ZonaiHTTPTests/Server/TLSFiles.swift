import Glibc
import Testing
import ZonaiHTTP

/// A throwaway authority's certificate, and a server's certificate and key, in a folder of their own.
struct TLSFiles: Sendable {
  let folder: String
  var authority: String { folder + "/ca.pem" }
  var certificate: String { folder + "/server.pem" }
  var key: String { folder + "/server.key" }

  init(name: String) throws {
    var template = Array("/tmp/zonai-http-XXXXXX".utf8CString)
    folder = try template.withUnsafeMutableBufferPointer { template in
      let start = try #require(template.baseAddress)
      let made = try #require(mkdtemp(start))
      return String(cString: made)
    }
    let authority = try CertificateAuthority()
    let identity = try authority.issue(names: [name])
    try write(authority.certificatePEM, to: self.authority)
    try write(identity.certificatePEM, to: certificate)
    try write(identity.privateKeyPEM, to: key)
  }

  private func write(_ text: String, to path: String) throws {
    let file = try #require(fopen(path, "w"))
    defer { fclose(file) }
    try #require(fputs(text, file) >= 0)
  }

  func remove() {
    for path in [authority, certificate, key] { unlink(path) }
    rmdir(folder)
  }
}
