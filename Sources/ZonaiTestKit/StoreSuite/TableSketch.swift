import ZonaiCore

/// One table of an application, described so that every database can make it.
public struct TableSketch: Sendable {
  public var name: TableName
  public var columns: [ColumnSketch]
  /// In key order; empty for a table without a primary key.
  public var primaryKey: [String]
  public var uniqueKeys: [[String]]
  /// Columns that point to another table's primary key.
  public var references: [ReferenceSketch]

  public init(
    _ name: TableName, columns: [ColumnSketch], primaryKey: [String], uniqueKeys: [[String]] = [],
    references: [ReferenceSketch] = []
  ) {
    self.name = name
    self.columns = columns
    self.primaryKey = primaryKey
    self.uniqueKeys = uniqueKeys
    self.references = references
  }

  public func column(_ name: String) -> ColumnSketch? { columns.first { $0.name == name } }
}

public struct ColumnSketch: Sendable {
  /// What a column holds, and which `Value` stands for it on the application's side.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// 64 bits; `.integer`.
    case integer
    /// Compared byte by byte; `.text`.
    case text
    /// Compared without regard to case; `.text`.
    case caseInsensitiveText
    /// The database's own UUID type where it has one; `.text`, in lower case with hyphens.
    case uuid
    /// `.bytes`.
    case blob
    /// The database's own boolean where it has one; `.integer`, 0 or 1.
    case boolean
    /// A moment; `.integer`, milliseconds since 1970. A fixture chooses how it is kept.
    case timestamp
  }

  public var name: String
  public var kind: Kind
  public var isNullable: Bool

  public init(_ name: String, _ kind: Kind, isNullable: Bool = true) {
    self.name = name
    self.kind = kind
    self.isNullable = isNullable
  }
}

public struct ReferenceSketch: Sendable {
  public var column: String
  /// The table whose primary key, of one column, the column points to.
  public var table: TableName

  public init(_ column: String, to table: TableName) {
    self.column = column
    self.table = table
  }
}
