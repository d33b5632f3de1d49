/// One of the application's tables, described once: its names, and how one of its rows becomes the application's own type.
///
///     let devices = Table("device_tokens", token: "token", platform: .column("platform")) { row in
///       Device(id: row["id"], owner: row["user_id"])
///     }
///     .onPushRejected { device in … }
///
/// Given to `Zonai(tables:)`, its hook gets that type. A table that nobody described works by names.
public struct Table<Record: Sendable>: DescribedTable {
  public let name: TableName
  /// The key columns; empty means the table's primary key.
  public let key: [String]
  public let token: String
  public let platform: Audience.PlatformSource
  public let lastSeen: String?
  private let make: @Sendable (Row) throws -> Record
  private var handler: (@Sendable (RejectedRecord<Record>) async throws -> HookAnswer)?

  public init(
    _ name: TableName, key: [String] = [], token: String, platform: Audience.PlatformSource = .unknown,
    lastSeen: String? = nil, record: @escaping @Sendable (Row) throws -> Record
  ) {
    self.name = name
    self.key = key
    self.token = token
    self.platform = platform
    self.lastSeen = lastSeen
    make = record
  }

  /// The table with rows of a `Decodable` type, whose properties are named as the columns are.
  public init(
    _ name: TableName, key: [String] = [], token: String, platform: Audience.PlatformSource = .unknown,
    lastSeen: String? = nil, of type: Record.Type = Record.self
  ) where Record: Decodable {
    self.init(name, key: key, token: token, platform: platform, lastSeen: lastSeen) { row in
      try Record(from: RowDecoder(row: row))
    }
  }

  /// The table with a hook of its own, which is asked in place of the general one.
  public func onPushRejected(
    _ handler: @escaping @Sendable (RejectedRecord<Record>) async throws -> HookAnswer
  ) -> Table {
    var table = self
    table.handler = handler
    return table
  }

  /// The rows of this table that the predicate accepts.
  public func audience(where predicate: Predicate? = nil) -> Audience {
    Audience(name, key: key, token: token, platform: platform, lastSeen: lastSeen, where: predicate)
  }

  /// The row as the application's own type.
  public func record(of row: Row) throws -> Record { try make(row) }

  public var hook: PushRejectionHandler? {
    guard let handler else { return nil }
    return { [make] rejection in
      let made: Record
      do { made = try make(rejection.row) } catch {
        throw HookFailure.unreadableRow(error, of: rejection)
      }
      return try await handler(RejectedRecord(record: made, rejection: rejection))
    }
  }
}

/// A rejection, with its row as the application's own type.
public struct RejectedRecord<Record: Sendable>: Sendable {
  public let record: Record
  public let rejection: PushRejection

  public init(record: Record, rejection: PushRejection) {
    self.record = record
    self.rejection = rejection
  }
}

extension RejectedRecord: CustomStringConvertible, CustomReflectable {
  /// Without the record, whose properties may hold the whole token.
  public var description: String { rejection.description }
  public var customMirror: Mirror { Mirror(self, children: ["rejection": description]) }
}

/// A table that the application described, whatever type its rows have.
public protocol DescribedTable: Sendable {
  var name: TableName { get }
  func audience(where predicate: Predicate?) -> Audience
  /// The table's own hook, if it has one.
  var hook: PushRejectionHandler? { get }
}
