import CZonaiOpenSSL

/// OpenSSL refused to do something that should always work, such as making a key or reading a certificate.
public struct OpenSSLError: Error, CustomStringConvertible {
  /// What was being done, for example "make a P-256 key".
  public let action: String
  /// OpenSSL's own words.
  public let reason: String

  /// Takes the reason from this thread's error queue, and empties it.
  init(_ action: String) {
    self.action = action
    let code = ERR_get_error()
    ERR_clear_error()
    reason = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
      guard code != 0, let start = text.baseAddress else { return "no reason given" }
      ERR_error_string_n(code, start, text.count)
      return String(cString: start)
    }
  }

  public var description: String { "cannot \(action): \(reason)" }
}
