/// What Zonai itself refuses: how it was set up, or what it was asked for. A store's and a message's own errors
/// (`StoreError`, `MessageFault`) pass through as they are.
public struct ZonaiError: Error, Sendable, Hashable, CustomStringConvertible {
  public struct Code: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// An option is out of its range.
    public static let invalidOption: Code = "invalidOption"
    /// Two transports have one name, or two tables are described twice.
    public static let describedTwice: Code = "describedTwice"
    /// No transport is configured that could serve the audience.
    public static let noTransport: Code = "noTransport"
    /// The job needs a transport that this process does not have.
    public static let unservable: Code = "unservable"
    public static let noSuchJob: Code = "noSuchJob"
    /// So many hooks never returned that no thread is left to ask the next one on.
    public static let hooksStuck: Code = "hooksStuck"
    /// The system has no thread left to give.
    public static let noThread: Code = "noThread"
  }

  public var code: Code
  /// One sentence or two: what is wrong and what to do.
  public var sentence: String

  public init(_ code: Code, _ sentence: String) {
    self.code = code
    self.sentence = sentence
  }

  public var description: String { "\(code.rawValue): \(sentence)" }
}
