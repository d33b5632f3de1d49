/// Device tokens, one after another in one piece of memory: a page of them costs two allocations, not one each.
///
/// A token is bytes: Zonai compares and sends it byte by byte. Its description shows a few characters only, so that a
/// token cannot end in a log by way of string interpolation.
public struct TokenList: Sendable, Hashable {
  /// All tokens' bytes, without separators.
  public private(set) var bytes: [UInt8] = []
  /// Where each token ends in `bytes`.
  public private(set) var ends: [Int] = []

  public init() {}

  public init(_ tokens: [String]) {
    for token in tokens { append(token) }
  }

  public var count: Int { ends.count }
  public var isEmpty: Bool { ends.isEmpty }

  public mutating func reserve(tokens: Int, bytesEach: Int = 160) {
    ends.reserveCapacity(tokens)
    bytes.reserveCapacity(tokens * bytesEach)
  }

  public mutating func append(_ token: String) {
    bytes.append(contentsOf: token.utf8)
    ends.append(bytes.count)
  }

  public mutating func append(_ token: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: token)
    ends.append(bytes.count)
  }

  public mutating func append(_ token: ArraySlice<UInt8>) {
    bytes.append(contentsOf: token)
    ends.append(bytes.count)
  }

  /// Where the token stands in `bytes`.
  public func range(_ index: Int) -> Range<Int> {
    (index == 0 ? 0 : ends[index - 1])..<ends[index]
  }

  public subscript(index: Int) -> ArraySlice<UInt8> { bytes[range(index)] }

  /// The token as text. Allocates: for the few that were rejected, never for a page.
  public func token(_ index: Int) -> DeviceToken { DeviceToken(Array(self[index])) }
}

extension TokenList: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// How many there are: the memory holds them whole.
  public var description: String { "\(count) tokens" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["count": count]) }
}

/// One device token. Its description hides all but its first characters (law: no whole token in any text).
public struct DeviceToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// The token's bytes, exactly as the application's table holds them.
  public var bytes: [UInt8]

  public init(_ bytes: [UInt8]) { self.bytes = bytes }
  public init(_ text: String) { bytes = Array(text.utf8) }

  /// The whole token, for the application's own use; never put it in a log.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  public var description: String {
    let shown = min(6, bytes.count / 4)
    let start = bytes.prefix(shown).map { (0x21...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }
    return String(decoding: start, as: UTF8.self) + "…(\(bytes.count) bytes)"
  }
  public var debugDescription: String { description }
}

extension DeviceToken {
  /// Tells one token from another, without being one: FNV-1a in 64 bits.
  /// http://www.isthe.com/chongo/tech/comp/fnv/
  @inlinable public static func digest(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}

extension DeviceToken: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let bytes = [UInt8](hex: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "a token is kept as hexadecimal text")
    }
    self.bytes = bytes
  }
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(bytes.hex)
  }
}

extension DeviceToken: CustomReflectable {
  public var customMirror: Mirror { Mirror(self, children: ["token": description]) }
}
