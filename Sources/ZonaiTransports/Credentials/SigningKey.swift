import CZonaiOpenSSL

/// A private key that signs tokens. Its description shows its kind only.
///
/// @unchecked: OpenSSL's key is never changed after it was read, and signing makes a context of its own each time.
/// https://docs.openssl.org/3.0/man7/openssl-threads/
final class SigningKey: @unchecked Sendable, CustomStringConvertible {
  enum Algorithm: String, Sendable {
    /// RSA with SHA-256, for Google's token endpoint.
    case rs256 = "RS256"
    /// ECDSA on P-256 with SHA-256, for APNs.
    case es256 = "ES256"
  }

  let algorithm: Algorithm
  let handle: OpaquePointer

  private init(_ handle: OpaquePointer, _ algorithm: Algorithm) {
    self.handle = handle
    self.algorithm = algorithm
  }

  deinit { EVP_PKEY_free(handle) }

  var description: String { "a private key for \(algorithm.rawValue)" }

  /// What reading found in place of the key that was wanted.
  enum Problem: Error, Hashable {
    case damaged
    case otherAlgorithm(String)
    case otherCurve(String)
    case tooShort(bits: Int)
  }

  /// Reads an unencrypted key in PEM form.
  static func read(pem: String, for algorithm: Algorithm) throws(Problem) -> SigningKey {
    guard let handle = SigningKey.handle(of: Array(pem.utf8)) else { throw .damaged }
    let key = SigningKey(handle, algorithm)
    switch (algorithm, EVP_PKEY_get_base_id(handle)) {
    case (.rs256, EVP_PKEY_RSA):
      let bits = Int(EVP_PKEY_get_bits(handle))
      guard bits >= 2048 else { throw .tooShort(bits: bits) }
    case (.es256, EVP_PKEY_EC):
      let curve = key.curve
      guard curve == "prime256v1" else { throw .otherCurve(curve) }
    case (_, EVP_PKEY_RSA): throw .otherAlgorithm("RSA")
    case (_, EVP_PKEY_EC): throw .otherAlgorithm("EC")
    default: throw .otherAlgorithm(EVP_PKEY_get0_type_name(handle).map { String(cString: $0) } ?? "other")
    }
    return key
  }

  /// Whether OpenSSL finds a private key of any kind in the text.
  static func isReadable(pem: String) -> Bool {
    guard let handle = handle(of: Array(pem.utf8)) else { return false }
    EVP_PKEY_free(handle)
    return true
  }

  private static func handle(of pem: [UInt8]) -> OpaquePointer? {
    // OpenSSL reads from the array's own memory, not from a copy: it must stay until the key was read.
    pem.withUnsafeBufferPointer { bytes in
      guard let text = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
      defer {
        BIO_free(text)
        ERR_clear_error()
      }
      // Without a callback of ours OpenSSL would ask the terminal for a passphrase.
      return PEM_read_bio_PrivateKey(text, nil, refusePassphrase, nil)
    }
  }

  /// The signature in the form that JOSE wants (RFC 7518, section 3); nil when OpenSSL fails for want of memory.
  func sign(_ message: [UInt8]) -> [UInt8]? {
    guard let context = EVP_MD_CTX_new() else { return nil }
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle) == 1 else { return nil }
    var length = 0
    guard EVP_DigestSign(context, nil, &length, message, message.count) == 1 else { return nil }
    var signature = [UInt8](repeating: 0, count: length)
    guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else { return nil }
    signature.removeLast(signature.count - length)
    return algorithm == .es256 ? SigningKey.joined(der: signature) : signature
  }

  /// The first half of the public key's SHA-256 in hexadecimal: tells keys apart without telling anything of them.
  var digest: String {
    var encoded: UnsafeMutablePointer<UInt8>?
    let count = i2d_PUBKEY(handle, &encoded)
    guard count > 0, let encoded else { return "" }
    defer { CRYPTO_free(encoded, nil, 0) }
    var hash = [UInt8](repeating: 0, count: 32)
    guard EVP_Digest(encoded, Int(count), &hash, nil, EVP_sha256(), nil) == 1 else { return "" }
    return Array(hash.prefix(16)).hex
  }

  private var curve: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { name in
      var length = 0
      guard EVP_PKEY_get_group_name(handle, name.baseAddress, name.count, &length) == 1, let start = name.baseAddress
      else { return "an unnamed one" }
      return String(cString: start)
    }
  }

  /// OpenSSL gives ECDSA signatures as DER; JOSE wants the two numbers one after the other, 32 bytes each.
  private static func joined(der: [UInt8]) -> [UInt8]? {
    let pair = der.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return d2i_ECDSA_SIG(nil, &start, bytes.count)
    }
    guard let pair else { return nil }
    defer { ECDSA_SIG_free(pair) }
    var joined = [UInt8](repeating: 0, count: 64)
    let filled = joined.withUnsafeMutableBufferPointer { bytes in
      BN_bn2binpad(ECDSA_SIG_get0_r(pair), bytes.baseAddress, 32) == 32
        && BN_bn2binpad(ECDSA_SIG_get0_s(pair), bytes.baseAddress?.advanced(by: 32), 32) == 32
    }
    return filled ? joined : nil
  }
}

private func refusePassphrase(
  _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { -1 }
