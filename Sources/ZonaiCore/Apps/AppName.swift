/// The name of an app: a named set of lanes. Jobs and workers belong to one, and a worker claims
/// only jobs of its own.
///
/// The default is the empty name, which is enough as long as one configuration works on the
/// database.
public struct AppName: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral value: String) { rawValue = value }

  /// The app of every job and worker that does not name one.
  public static let standard: AppName = ""

  /// How many characters a name may have.
  public static let longest = 64

  /// What is wrong with the name, as a sentence; nil when nothing is.
  public var problem: String? {
    let bytes = Array(rawValue.utf8)
    guard let first = bytes.first else { return nil }
    let isName = bytes.count <= AppName.longest && first.isLetterOrDigit
    if isName, bytes.allSatisfy({ $0.isLetterOrDigit || ".-_".utf8.contains($0) }) { return nil }
    return
      "'\(rawValue.prefix(80))' cannot be the name of an app: use at most \(AppName.longest) of the letters a to z "
      + "and A to Z, digits, '.', '-' and '_', and begin with a letter or a digit"
  }
}

extension AppName: CustomStringConvertible {
  /// "the app 'shop'", for sentences.
  public var description: String { rawValue.isEmpty ? "the default app" : "the app '\(rawValue)'" }
}

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool { (0x61...0x7a).contains(self | 0x20) || (0x30...0x39).contains(self) }
}
