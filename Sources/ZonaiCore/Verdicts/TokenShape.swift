/// What a token's bytes alone can tell: not where it belongs, but where it cannot. Shape never routes, but may refuse.
public enum TokenShape {
  /// A verdict for a token that cannot belong to the transport, so that it is not sent: 64 or more
  /// hexadecimal digits are an APNs token and not FCM's, and APNs takes whole hexadecimal bytes
  /// only, no more than `longestTokenOfAPNs` digits of them. nil for every other token and
  /// transport.
  ///
  /// Allocates nothing, and reads an FCM token only up to its first character that is no hexadecimal digit.
  public static func refusal(_ token: UnsafeRawBufferPointer, for transport: TransportName) -> Verdict? {
    switch transport {
    case .fcm: token.count >= 64 && isHexadecimal(token) ? appleTokenOnFCM : nil
    case .apns where token.count > longestTokenOfAPNs: tooLongForAPNs
    case .apns: !token.isEmpty && token.count.isMultiple(of: 2) && isHexadecimal(token) ? nil : noTokenOfAPNs
    default: nil
    }
  }

  public static func refusal(_ token: ArraySlice<UInt8>, for transport: TransportName) -> Verdict? {
    token.withUnsafeBytes { refusal($0, for: transport) }
  }

  /// The most digits that are sent. A device token has 64 today. Apple asks not to assume a length
  /// and announced tokens of up to 100 bytes (WWDC 2015, session 720); 160 digits were seen. This
  /// is twice what was announced. A token far beyond it does not fit into a request's header, so
  /// APNs could not even refuse it.
  static let longestTokenOfAPNs = 400

  /// Whether the token has 64 hexadecimal digits, which is how APNs gives out most of its tokens.
  static func isWholeAppleToken(_ token: ArraySlice<UInt8>) -> Bool {
    token.count == 64 && token.withUnsafeBytes(isHexadecimal)
  }

  private static func isHexadecimal(_ token: UnsafeRawBufferPointer) -> Bool {
    for byte in token where byte.hexDigit == nil { return false }
    return true
  }

  private static let appleTokenOnFCM = refused(
    "64 or more hexadecimal digits are a token of APNs, and this row goes to FCM")
  private static let noTokenOfAPNs = refused(
    "a token of APNs is hexadecimal, and this row's token is not")

  private static let tooLongForAPNs = refused(
    "a token of APNs has at most \(longestTokenOfAPNs) hexadecimal digits, and this row's value is longer",
    names: "the token column")

  private static func refused(_ words: String, names: String = "the platform column") -> Verdict {
    Verdict(.transientlyFailed, fault: .configuration, reason: .tokenNotForLane, words: words, names: names)
  }
}
