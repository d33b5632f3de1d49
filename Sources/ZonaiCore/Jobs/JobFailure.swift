/// Why a job stopped: a code to branch on, a sentence to read.
public struct JobFailure: Error, Sendable, Hashable, Codable, CustomStringConvertible {
  public struct Code: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// The service does not accept the credentials.
    public static let credentials: Code = "credentials"
    /// A setting of the lane is wrong.
    public static let configuration: Code = "configuration"
    /// No service would take the message as it is.
    public static let message: Code = "message"
    /// The batch guard: nobody of a group was delivered to, and the answers may be about the message or the lane.
    public static let suspects: Code = "suspects"
    /// A service was away for a day.
    public static let outage: Code = "outage"
    /// A batch changed hands three times without being settled.
    public static let takeovers: Code = "takeovers"
    /// What SQL enqueued is no request that can be read.
    public static let request: Code = "request"
    /// The app was bound to another identity than the job's.
    public static let rebound: Code = "rebound"
    /// The table, a column or a right is not what it was when the job was enqueued.
    public static let store: Code = "store"
  }

  public var code: Code
  /// One sentence or two: what happened and what to do.
  public var detail: String

  public init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  public var description: String { "\(code.rawValue): \(detail)" }
}
