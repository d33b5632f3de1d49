import CZonaiOpenSSL

/// A throwaway authority that issues certificates to servers on this machine, for simulators and tests.
///
/// Its private key lives in memory only. Clients trust it by its `certificatePEM`, given to them as an extra CA file.
public struct CertificateAuthority: Sendable {
  /// The authority's own certificate, for the clients' CA file.
  public let certificatePEM: String
  private let privateKeyPEM: String
  private let validDays: Int

  /// Makes a P-256 key and a certificate signed with it.
  ///
  /// Everything is valid from an hour ago, for clocks that are a little off, and for 30 days by default.
  public init(commonName: String = "Zonai throwaway CA", validDays: Int = 30) throws(OpenSSLError) {
    let key = try PrivateKey()
    let certificate = try Certificate()
    try certificate.fill(subject: commonName, key: key, validDays: validDays)
    try certificate.add("basicConstraints", NID_basic_constraints, "critical,CA:TRUE,pathlen:0", issuer: certificate)
    try certificate.add("keyUsage", NID_key_usage, "critical,keyCertSign,cRLSign", issuer: certificate)
    try certificate.add("subjectKeyIdentifier", NID_subject_key_identifier, "hash", issuer: certificate)
    try certificate.sign(issuer: certificate, key: key)
    certificatePEM = try certificate.pem()
    privateKeyPEM = try key.pem()
    self.validDays = validDays
  }

  /// Issues a server certificate for these DNS names and IP addresses; at least one of either is needed.
  public func issue(names: [String], addresses: [String] = []) throws(OpenSSLError) -> ServerIdentity {
    let issuer = try Certificate(pem: certificatePEM)
    let issuerKey = try PrivateKey(pem: privateKeyPEM)
    let key = try PrivateKey()
    let subject = names.first ?? addresses.first ?? "server"
    let certificate = try Certificate()
    try certificate.fill(subject: subject, key: key, validDays: validDays)
    let alternatives = (names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }).joined(separator: ",")
    try certificate.add("basicConstraints", NID_basic_constraints, "critical,CA:FALSE", issuer: issuer)
    try certificate.add("keyUsage", NID_key_usage, "critical,digitalSignature", issuer: issuer)
    try certificate.add("extendedKeyUsage", NID_ext_key_usage, "serverAuth", issuer: issuer)
    try certificate.add("subjectAltName", NID_subject_alt_name, alternatives, issuer: issuer)
    try certificate.add("authorityKeyIdentifier", NID_authority_key_identifier, "keyid", issuer: issuer)
    try certificate.sign(issuer: issuer, key: issuerKey)
    return ServerIdentity(certificatePEM: try certificate.pem(), privateKeyPEM: try key.pem())
  }
}

/// What a TLS server shows and proves: its certificate and the key that belongs to it.
public struct ServerIdentity: Sendable, CustomStringConvertible {
  public let certificatePEM: String
  /// Unencrypted PKCS#8. Write it only to a file that nobody else can read.
  public let privateKeyPEM: String

  public init(certificatePEM: String, privateKeyPEM: String) {
    self.certificatePEM = certificatePEM
    self.privateKeyPEM = privateKeyPEM
  }

  public var description: String { "ServerIdentity (the private key is not shown)" }
}
