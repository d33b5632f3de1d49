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
    /// 32 bits where the database has such; `.integer`. Predicates compare it with greater numbers all the same.
    case smallInteger
    /// 64 bits, binary; `.real`.
    case real
    /// Compared byte by byte, blanks at the end included; `.text`. Up to 191 characters where it is part of a key, which any
    /// database can index; elsewhere tens of thousands.
    case text
    /// Text of up to 40 characters in the type that fills up shorter ones with blanks, where there
    /// is one (`CHAR(40)`); `.text` without these blanks.
    case fixedText
    /// Compared without regard to case; `.text`. In a key only where `keyKinds` has it: then two keys that differ in case
    /// alone are one to the database, and the suite inserts none.
    case caseInsensitiveText
    /// The database's own UUID type where it has one; `.text`, in lower case with hyphens.
    case uuid
    /// `.bytes`; up to 191 of them where it is part of a key.
    case blob
    /// The database's own boolean where it has one; `.integer`, 0 or 1.
    case boolean
    /// A moment; `.integer`, milliseconds since 1970. A fixture chooses how it is kept.
    case timestamp
    /// A moment to the microsecond, in the type that knows of time zones where there is one (`timestamptz`, MySQL's
    /// `TIMESTAMP(6)`); `.text` in UTC, always of the form `2026-01-02 03:04:05.000006`, between 1971 and 2037.
    ///
    /// The text means UTC in predicates too, whatever zone a session has. The application's side should be in another.
    case moment
    /// A day and a time to the microsecond without a zone (`timestamp`, `DATETIME(6)`); `.text` of the same form.
    case wallClock
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

/// What an application does to a table that is in use.
public enum TableChange: Sendable {
  /// The new column is the last one, nullable, and NULL in every row.
  case add(ColumnSketch)
  case drop(String)
  case rename(String, to: String)
}
