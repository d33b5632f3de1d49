import CZonaiOpenSSL

/// The public half of a key, which judges signatures and can make none.
///
/// @unchecked: the key is not changed after it was made, and OpenSSL only reads it.
final class PublicKey: @unchecked Sendable {
  private let handle: OpaquePointer

  /// Copies the public half out of a pair.
  init(of pair: OpaquePointer) throws(SimulatorError) {
    var encoded: UnsafeMutablePointer<UInt8>?
    let count = i2d_PUBKEY(pair, &encoded)
    defer { zonai_openssl_free(encoded) }
    var start = UnsafePointer(encoded)
    guard count > 0, let handle = d2i_PUBKEY(nil, &start, Int(count)) else {
      throw SimulatorError(.keys, "OpenSSL did not copy a public key")
    }
    self.handle = handle
  }

  deinit { EVP_PKEY_free(handle) }

  /// RS256: PKCS#1 version 1.5 with SHA-256.
  func verifiesRS256(_ signature: [UInt8], of text: [UInt8]) -> Bool { verifies(signature, of: text) }

  /// ES256 in the form of JOSE: two numbers of 32 bytes, one after the other. DER is refused, as Apple refuses it.
  func verifiesES256(_ signature: [UInt8], of text: [UInt8]) -> Bool {
    guard signature.count == 64 else { return false }
    return verifies(Self.sequence([signature[..<32], signature[32...]]), of: text)
  }

  private func verifies(_ signature: [UInt8], of text: [UInt8]) -> Bool {
    guard let context = EVP_MD_CTX_new() else { return false }
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle) == 1
      && EVP_DigestVerify(context, signature, signature.count, text, text.count) == 1
  }

  /// DER's sequence of positive integers, the form that OpenSSL wants. All lengths fit one byte.
  private static func sequence(_ numbers: [ArraySlice<UInt8>]) -> [UInt8] {
    let integers = numbers.flatMap { number -> [UInt8] in
      var digits = Array(number.drop { $0 == 0 })
      if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
      return [0x02, UInt8(digits.count)] + digits
    }
    return [0x30, UInt8(integers.count)] + integers
  }
}
