/// What a store could not do: a code to branch on, a sentence to read, the database's own words beneath.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  public struct Code: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    // Found before anything was written: the caller must change something.
    public static let notFound: Code = "notFound"
    public static let noSuchTable: Code = "noSuchTable"
    public static let noSuchColumn: Code = "noSuchColumn"
    /// No key that pages can go by.
    public static let noUsableKey: Code = "noUsableKey"
    /// The token column is NOT NULL and the policy wants to clear it.
    public static let tokenNotNullable: Code = "tokenNotNullable"
    /// The token column holds many tokens in one row.
    public static let noSingleToken: Code = "noSingleToken"
    /// Other tables reference the rows that `deleteRow` would delete.
    public static let referencedRows: Code = "referencedRows"
    public static let invalidPredicate: Code = "invalidPredicate"
    public static let invalidRequest: Code = "invalidRequest"
    /// The idempotency key is known with another content.
    public static let idempotencyClash: Code = "idempotencyClash"
    /// Zonai's own tables are missing: run `migrate`.
    public static let notMigrated: Code = "notMigrated"
    /// Zonai's own tables are older or newer than this build.
    public static let schemaVersion: Code = "schemaVersion"
    /// The app is bound to another identity than the process or job.
    public static let otherBinding: Code = "otherBinding"
    /// The change does not fit the job's state.
    public static let wrongState: Code = "wrongState"

    /// The app was bound to another identity while the worker ran.
    public static let rebound: Code = "rebound"

    // The database.
    public static let unavailable: Code = "unavailable"
    public static let readOnly: Code = "readOnly"
    public static let full: Code = "full"
    /// Locked by others for longer than the deadline.
    public static let busy: Code = "busy"
    /// A statement ran for longer than it may.
    public static let tooSlow: Code = "tooSlow"
    public static let denied: Code = "denied"
    /// A constraint or trigger of the application refused the statement.
    public static let refused: Code = "refused"
    public static let corrupt: Code = "corrupt"
    public static let failed: Code = "failed"
  }

  public var code: Code
  public var sentence: String
  /// The database's own words, if it spoke: shortened, and without what looks like a token.
  public var databaseWords: String?
  /// The statement, with placeholders in the place of values.
  public var statement: String?
  /// Whether the change may have been committed all the same: the connection was lost during the commit.
  public var mayBeCommitted = false

  public init(_ code: Code, _ sentence: String, databaseWords: String? = nil, statement: String? = nil) {
    self.code = code
    self.sentence = sentence
    self.databaseWords = databaseWords.map { ServiceWords.shortened($0) }
    self.statement = statement
  }

  /// Whether the caller is at fault and nothing was written.
  public var wasFoundBeforeWriting: Bool {
    switch code {
    case .notFound, .noSuchTable, .noSuchColumn, .noUsableKey, .tokenNotNullable, .noSingleToken, .referencedRows,
      .invalidPredicate, .invalidRequest, .idempotencyClash, .notMigrated, .schemaVersion, .otherBinding, .wrongState:
      true
    default: false
    }
  }

  /// Whether the same call may succeed a little later.
  public var isPassing: Bool { code == .busy || code == .tooSlow || code == .unavailable }

  public var description: String {
    var text = "\(code.rawValue): \(sentence)"
    if let databaseWords { text += " (\(databaseWords))" }
    return text
  }
}
