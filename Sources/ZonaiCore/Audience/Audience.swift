/// Whom a message goes to: rows of one of the application's own tables.
///
/// A recipient is a row whose token is neither NULL nor empty and that the predicate accepts. Only the columns named here
/// are read.
public struct Audience: Sendable, Hashable, Codable {
  public var table: TableName
  /// The key columns; empty means the table's primary key.
  public var key: [String]
  public var token: String
  public var platform: PlatformSource
  /// The column that holds when this token was registered, if there is one. It spares a device that came back with the same
  /// token, and lets a 410 that is older than the registration be ignored.
  public var lastSeen: String?
  public var predicate: Predicate?

  /// Where a row's platform comes from.
  public enum PlatformSource: Sendable, Hashable, Codable {
    /// Nobody knows: weak evidence never prunes here.
    case unknown
    case column(String)
    /// All rows have this platform.
    case fixed(Platform)
  }

  public init(
    _ table: TableName, key: [String] = [], token: String, platform: PlatformSource = .unknown,
    lastSeen: String? = nil, where predicate: Predicate? = nil
  ) {
    self.table = table
    self.key = key
    self.token = token
    self.platform = platform
    self.lastSeen = lastSeen
    self.predicate = predicate
  }
}
