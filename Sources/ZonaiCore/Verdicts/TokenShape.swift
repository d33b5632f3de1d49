/// What a token's bytes alone can tell: not where it belongs, but where it cannot. Shape never routes, but may refuse.
public enum TokenShape {
  /// A verdict for a token that cannot belong to the transport, so that it is not sent: 64 or more hexadecimal digits are an
  /// APNs token and not FCM's, and APNs takes whole hexadecimal bytes only. nil for every other token and transport.
  ///
  /// Allocates nothing, and reads an FCM token only up to its first character that is no hexadecimal digit.
  public static func refusal(_ token: UnsafeRawBufferPointer, for transport: TransportName) -> Verdict? {
    switch transport {
    case .fcm: token.count >= 64 && isHexadecimal(token) ? appleTokenOnFCM : nil
    case .apns: !token.isEmpty && token.count.isMultiple(of: 2) && isHexadecimal(token) ? nil : noTokenOfAPNs
    default: nil
    }
  }

  public static func refusal(_ token: ArraySlice<UInt8>, for transport: TransportName) -> Verdict? {
    token.withUnsafeBytes { refusal($0, for: transport) }
  }

  private static func isHexadecimal(_ token: UnsafeRawBufferPointer) -> Bool {
    for byte in token where byte.hexDigit == nil { return false }
    return true
  }

  private static let appleTokenOnFCM = refused(
    "64 or more hexadecimal digits are a token of APNs, and this row goes to FCM")
  private static let noTokenOfAPNs = refused(
    "a token of APNs is hexadecimal, and this row's token is not")

  private static func refused(_ words: String) -> Verdict {
    Verdict(
      .transientlyFailed, fault: .configuration, reason: .tokenNotForLane, words: words, names: "the platform column")
  }
}
