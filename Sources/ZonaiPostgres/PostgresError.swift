import CZonaiPostgres
import ZonaiCore

/// PostgreSQL's error numbers as `StoreError`, read where the number is known.
/// https://www.postgresql.org/docs/current/errcodes-appendix.html
enum PostgresError {
  // PG_DIAG_… are characters in C. https://www.postgresql.org/docs/current/libpq-exec.html#LIBPQ-PQRESULTERRORFIELD
  static let severity = Int32(UInt8(ascii: "V"))
  static let sqlstate = Int32(UInt8(ascii: "C"))
  private static let primary = Int32(UInt8(ascii: "M"))
  private static let table = Int32(UInt8(ascii: "t"))

  /// The server's number of an error that it reported; empty when the connection failed.
  static func number(_ result: PostgresResult) -> String { result.field(sqlstate) ?? "" }

  static func error(_ result: PostgresResult, place: PostgresPlace, statement: String) -> StoreError {
    // The detail would show values: a unique key that a token is part of, say.
    let words = result.field(primary).map { number(result).hasPrefix("22") ? withoutValues($0) : $0 }
    if losesStatements(result) {
      return StoreError(
        .busy, "the table was altered in the middle of the work: try again in a moment", databaseWords: words)
    }
    let (code, sentence) = meaning(number(result), place, words: words ?? "", statement: statement)
    return StoreError(code, sentence, databaseWords: words, statement: statement)
  }

  /// What stands between quotes in words about data is a value, of an audience's predicate say.
  private static func withoutValues(_ words: String) -> String {
    guard let first = words.firstIndex(of: "\""), let last = words.lastIndex(of: "\""), first < last else {
      return words
    }
    return words[...first] + "…" + words[last...]
  }

  /// Whether the transaction failed for another's sake and may well succeed when it runs anew: a dead-lock, a serialization
  /// failure, a row of Zonai's own that another inserted first, a statement whose plan no longer fits the table.
  static func isVictim(_ result: PostgresResult) -> Bool {
    switch number(result) {
    case "40P01", "40001", "72000": true
    case "23505": result.field(table)?.hasPrefix("zonai_") == true
    default: losesStatements(result)
    }
  }

  /// Whether what was prepared is of no use any more: "cached plan must not change result type", or a pooler that gave us
  /// another server connection.
  static func losesStatements(_ result: PostgresResult) -> Bool {
    switch number(result) {
    case "26000": true
    case "0A000": result.field(primary)?.contains("cached plan") == true
    default: false
    }
  }

  private static func meaning(
    _ number: String, _ place: PostgresPlace, words: String, statement: String
  ) -> (StoreError.Code, String) {
    switch number {
    case "40P01":
      return (
        .busy, "two transactions waited for each other again and again: look for what locks rows in another order"
      )
    case "40001", "72000":
      return (.busy, "other transactions got in the way again and again: try again when the database is less busy")
    case "55P03":
      return (
        .busy, "rows were locked by another transaction for too long: look for a long transaction in pg_stat_activity"
      )
    case "55006": return (.busy, "what the statement needs is in use by others: try again in a moment")
    case "57014":
      return (.tooSlow, "a statement took longer than it may: look for a predicate without an index, or for long locks")
    case "25006":
      return (
        .readOnly,
        "PostgreSQL at \(place) takes no writes: name the primary (target_session_attrs=read-write), or take "
          + "default_transaction_read_only off"
      )
    case "53100":
      return (.full, "the disk of PostgreSQL at \(place) is full: make room on it; nothing was lost")
    case "53300":
      return (
        .unavailable, "PostgreSQL at \(place) has no connection left: raise max_connections, or run fewer workers"
      )
    case "57P01", "57P02", "57P03", "57P04", "57P05", "25P03", "25P04":
      return (.unavailable, "PostgreSQL at \(place) ended the connection: see its log")
    case "42501": return (.denied, PostgresRights.sentence(words: words, statement: statement, role: place.user))
    case "42P01": return (.noSuchTable, "the table is not there any more, or is in no schema of the search_path")
    case "42703": return (.noSuchColumn, "a column that the statement names is not there any more")
    case "3F000":
      return (
        .noSuchTable, "there is no schema to keep Zonai's tables in: set the role's search_path, or create the schema"
      )
    case "3D000": return (.notFound, "the database \(place.database) is not there any more")
    case "22P02", "22003", "22007", "22008", "22021", "22P03":
      return (.failed, "a value does not fit the type of the column that it is compared with")
    case "0A000": return (.failed, "PostgreSQL at \(place) does not support what the statement asks for")
    case "P0001", "44000", "27000", "09000":
      return (.refused, "a constraint or trigger of the table refused the change")
    default: return byClass(number, place)
    }
  }

  private static func byClass(_ number: String, _ place: PostgresPlace) -> (StoreError.Code, String) {
    switch number.prefix(2) {
    case "08": (.unavailable, "the connection to PostgreSQL at \(place) failed: see whether the server is up")
    case "": (.unavailable, "the connection to PostgreSQL at \(place) was lost: see whether the server is up")
    case "23", "38", "39", "P0": (.refused, "a constraint or trigger of the table refused the change")
    case "28": (.denied, "PostgreSQL at \(place) does not let \(place.user) do that")
    case "53": (.unavailable, "PostgreSQL at \(place) lacks memory or descriptors: see its log")
    case "58": (.unavailable, "PostgreSQL at \(place) cannot read or write its files: see its log")
    case "XX": (.corrupt, "PostgreSQL at \(place) reports damage (\(number)): see its log, and check the table")
    default: (.failed, "PostgreSQL does not take the statement (\(number))")
    }
  }
}
