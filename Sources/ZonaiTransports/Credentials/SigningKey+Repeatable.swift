import CZonaiOpenSSL

/// ECDSA that gives the same signature each time.
///
/// An ordinary one holds a random number, so two processes that sign the same statement show two tokens. Here the number
/// comes out of key and message (RFC 6979), and the tokens are one. OpenSSL offers this from 3.2 on, and 3.0 is still about:
/// so the number is derived here, the arithmetic is OpenSSL's, and so is the check of the result.
extension SigningKey {
  /// The signature in the form that JOSE wants; nil when the key is none for ES256, or OpenSSL fails for want of memory.
  func signRepeatably(_ message: [UInt8]) -> [UInt8]? {
    defer { ERR_clear_error() }
    guard algorithm == .es256, let sum = RepeatableSum(handle) else { return nil }
    var hash = [UInt8](repeating: 0, count: 32)
    guard EVP_Digest(message, message.count, &hash, nil, EVP_sha256(), nil) == 1,
      let signature = sum.signature(hash: hash), verifies(signature, of: message)
    else { return nil }
    return signature
  }

  private func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard let pair = ECDSA_SIG_new() else { return false }
    defer { ECDSA_SIG_free(pair) }
    guard let r = BN_bin2bn(signature, 32, nil), let s = BN_bin2bn(Array(signature[32...]), 32, nil),
      ECDSA_SIG_set0(pair, r, s) == 1
    else { return false }
    var encoded: UnsafeMutablePointer<UInt8>?
    let count = i2d_ECDSA_SIG(pair, &encoded)
    guard count > 0, let encoded, let context = EVP_MD_CTX_new() else { return false }
    defer {
      EVP_MD_CTX_free(context)
      CRYPTO_free(encoded, nil, 0)
    }
    return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle) == 1
      && EVP_DigestVerify(context, encoded, Int(count), message, message.count) == 1
  }
}

/// The numbers of one such signature, in memory that is wiped when it goes.
private struct RepeatableSum: ~Copyable {
  private let context: OpaquePointer
  private let group: OpaquePointer
  private let order: OpaquePointer
  private let secret: OpaquePointer

  init?(_ key: OpaquePointer) {
    guard let context = BN_CTX_secure_new() else { return nil }
    guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1), let order = EC_GROUP_get0_order(group) else {
      BN_CTX_free(context)
      return nil
    }
    var secret: OpaquePointer?
    guard EVP_PKEY_get_bn_param(key, "priv", &secret) == 1, let secret else {
      EC_GROUP_free(group)
      BN_CTX_free(context)
      return nil
    }
    BN_set_flags(secret, BN_FLG_CONSTTIME)
    BN_CTX_start(context)
    self.context = context
    self.group = group
    self.order = order
    self.secret = secret
  }

  deinit {
    BN_clear_free(secret)
    EC_GROUP_free(group)
    BN_CTX_end(context)
    BN_CTX_free(context)
  }

  /// r and s, 32 bytes each.
  func signature(hash: [UInt8]) -> [UInt8]? {
    guard let nonce = nonce(hash), let point = EC_POINT_new(group) else { return nil }
    defer { EC_POINT_clear_free(point) }
    guard let r = number(), let s = number(), let z = number(), let blind = number(), let product = number(),
      BN_bin2bn(hash, 32, z) != nil,
      EC_POINT_mul(group, point, nonce, nil, nil, context) == 1,
      EC_POINT_get_affine_coordinates(group, point, r, nil, context) == 1, BN_nnmod(r, r, order, context) == 1,
      // s = (z + r * secret) / nonce. A random factor above and below the line keeps its timing from telling of the key.
      BN_priv_rand_range(blind, order) == 1, BN_is_zero(blind) == 0,
      BN_mod_mul(product, blind, secret, order, context) == 1, BN_mod_mul(product, product, r, order, context) == 1,
      BN_mod_mul(s, blind, z, order, context) == 1, BN_mod_add(s, s, product, order, context) == 1,
      BN_mod_mul(product, blind, nonce, order, context) == 1, BN_mod_inverse(product, product, order, context) != nil,
      BN_mod_mul(s, s, product, order, context) == 1, BN_is_zero(r) == 0, BN_is_zero(s) == 0
    else { return nil }
    guard let first = bytes(r), let second = bytes(s) else { return nil }
    return first + second
  }

  /// The nonce for this hash (RFC 6979, section 3.2).
  private func nonce(_ hash: [UInt8]) -> OpaquePointer? {
    guard let nonce = number(), let reduced = number(), BN_bin2bn(hash, 32, reduced) != nil,
      BN_nnmod(reduced, reduced, order, context) == 1, let message = bytes(reduced), let secret = bytes(secret)
    else { return nil }
    BN_set_flags(nonce, BN_FLG_CONSTTIME)
    var value = [UInt8](repeating: 1, count: 32)
    var key = [UInt8](repeating: 0, count: 32)
    for step in [0, 1] as [UInt8] {
      guard let nextKey = code(value + [step] + secret + message, key), let next = code(value, nextKey) else {
        return nil
      }
      key = nextKey
      value = next
    }
    // One in four billion is not below the curve's order.
    for _ in 0..<64 {
      guard let next = code(value, key), BN_bin2bn(next, 32, nonce) != nil else { return nil }
      if BN_is_zero(nonce) == 0, BN_cmp(nonce, order) < 0 { return nonce }
      guard let nextKey = code(next + [0], key), let after = code(next, nextKey) else { return nil }
      key = nextKey
      value = after
    }
    return nil
  }

  private func code(_ bytes: [UInt8], _ key: [UInt8]) -> [UInt8]? {
    var code = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 32
    return HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &code, &length) == nil ? nil : code
  }

  private func bytes(_ number: OpaquePointer) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 32)
    return BN_bn2binpad(number, &bytes, 32) == 32 ? bytes : nil
  }

  /// One that goes with the context.
  private func number() -> OpaquePointer? { BN_CTX_get(context) }
}
