/// What an answer speaks about. Only `recipient` can ever touch a row.
public enum Fault: String, Sendable, Hashable, Codable, CaseIterable {
  /// The device token: dead, or throttled just now.
  case recipient
  /// A setting: of some recipients (the wrong topic), or of the whole lane (another server answers).
  case configuration
  case message
  case credentials
  /// The service is in trouble, slow, or wants less traffic. The request may have been handled.
  case service
  /// The request surely was not handled: sending it again cannot reach a device twice.
  case connection
  /// Nothing that Zonai knows. The raw status and reason are kept.
  case unknown
}
