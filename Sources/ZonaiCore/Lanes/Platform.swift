/// What the platform column says of a row, in lower case: `iOS` and `ios` are one platform.
public struct Platform: Sendable, Hashable, CustomStringConvertible {
  /// Empty for a row without a platform: no platform column, NULL, or an empty value.
  public let name: String

  /// A row without a platform.
  public static let unknown = Platform(lowercased: "")

  public init(_ name: String) { self.name = name.lowercased() }

  private init(lowercased name: String) { self.name = name }

  public var isUnknown: Bool { name.isEmpty }
  public var description: String { isUnknown ? "no platform" : name }

  /// Whether Apple's push service reaches devices of this platform.
  public var isApple: Bool { Platform.apple.contains(name) }

  private static let apple: Set<String> = [
    "ios", "ipados", "apple", "iphone", "ipad", "macos", "tvos", "watchos", "visionos",
  ]
}

extension Platform: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }
}
