import CZonaiSQLite
import ZonaiCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// SQLite's result codes as `StoreError`, read where the number is known.
/// https://www.sqlite.org/rescode.html
enum SQLiteError {
  /// What the extended code of a connection's last call means. `system` is the operating system's error number.
  static func error(
    _ code: Int32, system: Int32, path: String, words: String?, statement: String? = nil
  ) -> StoreError {
    let (kind, sentence) = meaning(code, system: system, path: path)
    return StoreError(kind, sentence, databaseWords: words, statement: statement)
  }

  private static func meaning(_ code: Int32, system: Int32, path: String) -> (StoreError.Code, String) {
    // A full disk shows as an input or output error too, depending on which file met it.
    if [ENOSPC, EDQUOT, EFBIG].contains(system), code & 0xff == SQLITE_IOERR {
      return (.full, "\(path) cannot grow: make room on the disk, or raise the limit that it met; nothing was lost")
    }
    switch code & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED:
      return (
        .busy, "\(path) was locked by another writer for too long: look for a long transaction of the application"
      )
    case SQLITE_INTERRUPT:
      return (.tooSlow, "a statement on \(path) took longer than it may: look for a predicate without an index")
    case SQLITE_READONLY:
      return (.readOnly, "\(path) cannot be written: give this user the right to write the file and its folder")
    case SQLITE_FULL:
      return (.full, "\(path) cannot grow: make room on the disk, or raise the limit that it met; nothing was lost")
    case SQLITE_NOTADB: return (.corrupt, "\(path) is not an SQLite database, or is encrypted: name another file")
    case SQLITE_CORRUPT:
      return (.corrupt, "\(path) is damaged: run \"PRAGMA integrity_check\" on it and restore it from a backup")
    case SQLITE_CANTOPEN: return cannotOpen(path, system: system)
    case SQLITE_PERM, SQLITE_AUTH: return (.denied, "SQLite denies access to \(path)")
    case SQLITE_CONSTRAINT: return (.refused, "a constraint or trigger of \(path) refused the change")
    case SQLITE_IOERR:
      let why = system == 0 ? "" : " (\(String(cString: strerror(system))))"
      return (.unavailable, "\(path) could not be read or written\(why): look at the disk and its limits")
    case SQLITE_NOMEM: return (.unavailable, "there is not enough memory to work on \(path)")
    case SQLITE_PROTOCOL:
      return (.busy, "the locks of \(path) could not be had: is it on a network share?")
    case SQLITE_TOOBIG:
      return (.failed, "a value is larger than SQLite takes (SQLITE_LIMIT_LENGTH)")
    case SQLITE_ERROR: return (.failed, "SQLite does not take the statement")
    default: return (.failed, "SQLite failed with code \(code)")
    }
  }

  private static func cannotOpen(_ path: String, system: Int32) -> (StoreError.Code, String) {
    var status = stat()
    if stat(path, &status) != 0 {
      switch errno {
      case ENOENT, ENOTDIR:
        return (
          .notFound,
          "there is no file \(path): name the application's database; Zonai adds its tables to it and never creates one"
        )
      case EACCES: return (.denied, "\(path) cannot be reached: give this user the right to enter its folders")
      default: return (.unavailable, "\(path) cannot be opened (\(String(cString: strerror(errno))))")
      }
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      return (.notFound, "\(path) is a folder: name the database file in it")
    }
    if system == EMFILE || system == ENFILE {
      return (.unavailable, "\(path) cannot be opened, since too many files are open: raise the limit (ulimit -n)")
    }
    return (
      .denied,
      "\(path) or its journal cannot be opened: give this user the right to read and write the file and its folder"
    )
  }
}
