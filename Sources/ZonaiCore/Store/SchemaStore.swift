/// What creates Zonai's own tables and looks at the application's.
public protocol SchemaStore: Sendable {
  /// Creates or upgrades Zonai's own tables, under a lock. Running it again changes nothing.
  func migrate() async throws(StoreError) -> Migration
  func describe(_ table: TableName) async throws(StoreError) -> TableDescription
}

public struct Migration: Sendable, Hashable {
  /// 0 when there were no tables.
  public var from: Int
  public var to: Int
  /// What could not be made and is not needed by Zonai itself, and how to have it: a sentence each.
  public var notes: [String]
  public init(from: Int, to: Int, notes: [String] = []) {
    self.from = from
    self.to = to
    self.notes = notes
  }
}

public struct TableDescription: Sendable, Hashable {
  public var table: TableName
  public var columns: [ColumnDescription]
  /// In key order; empty when there is none.
  public var primaryKey: [String]
  /// Unique indexes over whole columns, without a condition.
  public var uniqueKeys: [[String]]
  /// Foreign keys of other tables that point here: "orders.user_id".
  public var referencedBy: [String]
  /// The names of the indexes behind the keys, by the key's columns, for databases that want to be told by which to go.
  public var indexNames: [[String]: String]

  public init(
    table: TableName, columns: [ColumnDescription], primaryKey: [String], uniqueKeys: [[String]] = [],
    referencedBy: [String] = [], indexNames: [[String]: String] = [:]
  ) {
    self.table = table
    self.columns = columns
    self.primaryKey = primaryKey
    self.uniqueKeys = uniqueKeys
    self.referencedBy = referencedBy
    self.indexNames = indexNames
  }

  public func column(_ name: String) -> ColumnDescription? { columns.first { $0.name == name } }
}

public struct ColumnDescription: Sendable, Hashable {
  public var name: String
  /// The type in the database's own words.
  public var type: String
  /// What a predicate can compare the column with.
  public var kind: ColumnKind
  public var isNullable: Bool
  /// Whether the database computes the value from other columns, so that it cannot be set.
  public var isGenerated: Bool
  /// Whether some row is NULL here; asked only for key columns that are declared nullable.
  public var holdsNull: Bool
  /// Whether ORDER BY and `>` agree on this column, byte for byte; nil when they do. Otherwise a clause that says why not
  /// ("its collation ignores case").
  public var orderProblem: String?
  /// How much a text or bytes may have here; nil for other types, and without a limit.
  public var capacity: ColumnCapacity?

  public init(
    name: String, type: String, kind: ColumnKind, isNullable: Bool, isGenerated: Bool = false, holdsNull: Bool = false,
    orderProblem: String? = nil, capacity: ColumnCapacity? = nil
  ) {
    self.name = name
    self.type = type
    self.kind = kind
    self.isNullable = isNullable
    self.isGenerated = isGenerated
    self.holdsNull = holdsNull
    self.orderProblem = orderProblem
    self.capacity = capacity
  }
}

extension ColumnDescription {
  /// Whether the token fills the column to the end, as those do that were cut off. 64 hexadecimal
  /// digits are a whole token of APNs.
  package func cutsOff(_ token: ArraySlice<UInt8>) -> Bool {
    capacity?.isFilled(by: token) == true && !TokenShape.isWholeAppleToken(token)
  }

  /// The type without character set and collation.
  var shortType: String {
    let words = type.split(separator: " ", omittingEmptySubsequences: false)
    let end = words.indices.first { words[$0] == "COLLATE" || words[$0...].starts(with: ["CHARACTER", "SET"]) }
    return words[..<(end ?? words.endIndex)].joined(separator: " ")
  }
}

/// How much a column holds. What a database or an application cuts off to fit has exactly so much.
public enum ColumnCapacity: Sendable, Hashable, CustomStringConvertible {
  case characters(Int)
  case bytes(Int)

  /// Whether text, in UTF-8, or bytes fill it to the end.
  public func isFilled(by bytes: some Collection<UInt8>) -> Bool {
    switch self {
    // A character begins with every byte that continues none.
    case .characters(let count): bytes.count >= count && bytes.count { $0 & 0xc0 != 0x80 } == count
    case .bytes(let count): bytes.count == count
    }
  }

  public var description: String {
    switch self {
    case .characters(let count): "\(count) characters"
    case .bytes(let count): "\(count) bytes"
    }
  }
}
