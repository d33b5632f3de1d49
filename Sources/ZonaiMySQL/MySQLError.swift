import ZonaiCore

/// The numbers of MySQL and MariaDB as `StoreError`, read where they are known.
/// https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html
/// https://mariadb.com/kb/en/mariadb-error-codes/
enum MySQLError {
  /// What the number of a connection's last call means.
  static func error(
    _ number: UInt32, words: String, at address: MySQLAddress, mode: SQLModeKind = .read, statement: String? = nil
  ) -> StoreError {
    let (code, sentence) =
      connecting(number, address) ?? timing(number, mode) ?? rights(number, words, address) ?? room(number)
      ?? aboutStatement(number)
    return StoreError(
      code, sentence, databaseWords: words.isEmpty ? nil : withoutValues(words, number), statement: statement)
  }

  /// Whether the connection is of no use after it.
  static func endsConnection(_ number: UInt32) -> Bool {
    switch number {
    // The client's: cannot connect, gone, lost, lost with a reason, out of step.
    case 2000...2015, 2026, 2055: true
    // Shutdown, killed, killed by an administrator, idle for too long, packets out of order.
    case 1053, 1152, 1156...1161, 1184, 1927, 3169, 4031: true
    default: false
    }
  }

  /// Whether the server rolled the whole transaction back so that another may go on.
  static func isDefeat(_ number: UInt32) -> Bool { number == deadlock }

  static let deadlock: UInt32 = 1213
  static let lockWaitTimeout: UInt32 = 1205
  static let tooManyPrepared: UInt32 = 1461
  static let duplicate: UInt32 = 1062
  static let noSuchTable: UInt32 = 1146
  static let packetTooLarge: UInt32 = 1153

  // MARK: Reaching the server

  private static func connecting(_ number: UInt32, _ address: MySQLAddress) -> (StoreError.Code, String)? {
    let server = address.server
    switch number {
    case 2002, 2003, 2004:
      return (.unavailable, "cannot reach \(server): see that it runs, and that address and port are right")
    case 2005: return (.unavailable, "the host of \(server) cannot be found: correct its name")
    case 2006, 2013, 2055: return (.unavailable, "the connection to \(server) was lost")
    case 1053, 1927, 3169, 1152, 1156...1161, 1184, 4031:
      return (.unavailable, "\(server) ended the connection: it was restarted, or somebody killed the connection")
    case 1040:
      return (
        .unavailable, "\(server) has no connection left: raise max_connections, or run fewer workers or other clients"
      )
    case 1203, 1226:
      return (
        .unavailable,
        "the user \(address.userName) has used up its connections: raise max_user_connections, or run fewer workers"
      )
    case 1129:
      return (.unavailable, "\(server) blocks this machine after failed connections: run FLUSH HOSTS on it")
    case 1130:
      return (
        .denied, "\(server) lets nobody in from this machine: make a user for it (CREATE USER 'name'@'this machine')"
      )
    case 2026, 2012:
      return (
        .unavailable,
        "no TLS connection to \(server) could be made: see ssl-mode and ssl-ca in the store's URL, and whether the "
          + "certificate is valid for this host name"
      )
    case 3159: return (.denied, "\(server) takes only TLS connections: add ssl-mode=required to the store's URL")
    case 1045:
      return (
        .denied, "\(server) refuses the user \(address.userName) with this password, or from this machine: correct them"
      )
    case 1044:
      return (
        .denied,
        "the user \(address.userName) may not use the database \(address.databaseName): "
          + "GRANT ALL ON \(quoted(address.databaseName)).* TO it, or the rights in docs/mysql.md"
      )
    case 1049:
      return (
        .notFound,
        "there is no database \(address.databaseName) on \(server): name the application's; Zonai never creates one"
      )
    case 1046: return (.notFound, "no database was chosen: name it in the store's URL (mysql://host/database)")
    case 1251, 2059, 2061, 1275:
      return (
        .denied,
        "the client library cannot log the user \(address.userName) in the way the server wants: use TLS "
          + "(ssl-mode=required), or give the user a plugin that both know"
      )
    case 1820, 1862:
      return (.denied, "the password of the user \(address.userName) has expired: set a new one with ALTER USER")
    case 2019, 2025: return (.failed, "the client library does not know the character set utf8mb4")
    case 2008, 1037, 1038, 1041: return (.unavailable, "there is not enough memory for a call to \(server)")
    default: return nil
    }
  }

  // MARK: Time and locks

  private static func timing(_ number: UInt32, _ mode: SQLModeKind) -> (StoreError.Code, String)? {
    let locked = (
      StoreError.Code.busy, "rows were locked by others for too long: look for a long transaction of the application"
    )
    switch number {
    case 1205, 3572: return locked
    case 1213:
      return (.busy, "the transaction met another one that held what it wanted (a dead-lock), again and again")
    // Interrupted, or past max_statement_time (MariaDB) or max_execution_time (MySQL). What writes goes by keys: only locks
    // make it slow.
    case 1317, 1969, 3024, 1028:
      switch mode {
      case .write: return locked
      case .read: return (.tooSlow, "a statement took longer than it may: look for a predicate without an index")
      case .opening: return (.unavailable, "the server took too long over a new connection: see how busy it is")
      }
    case 1461:
      return (
        .unavailable, "the server has prepared as many statements as it may: raise max_prepared_stmt_count"
      )
    default: return nil
    }
  }

  // MARK: Rights

  private static func rights(
    _ number: UInt32, _ words: String, _ address: MySQLAddress
  ) -> (StoreError.Code, String)? {
    switch number {
    case 1142, 1143:
      let denied = DeniedCommand(words)
      let verb = denied.verb ?? "SELECT, INSERT, UPDATE, DELETE"
      let table = denied.table ?? "*"
      return (
        .denied,
        "the user \(address.userName) lacks a right: GRANT \(verb) ON "
          + "\(quoted(address.databaseName)).\(table == "*" ? table : quoted(table)) TO \(denied.user ?? "it")"
      )
    case 1227:
      return (.denied, "the user \(address.userName) lacks a right that the server names: have it granted")
    case 1370:
      return (.denied, "the user \(address.userName) may not run a function or procedure: GRANT EXECUTE to it")
    case 1290, 1836, 3989:
      return (
        .readOnly,
        "\(address.server) takes no writes (read_only): it may be a replica; name the primary in the store's URL"
      )
    case 1792: return (.readOnly, "the transaction may only read: a write was tried in it")
    case 1665:
      return (
        .failed,
        "the server's binlog_format is STATEMENT, which does not go with READ COMMITTED: set it to ROW or MIXED"
      )
    default: return nil
    }
  }

  // MARK: Room

  private static func room(_ number: UInt32) -> (StoreError.Code, String)? {
    switch number {
    case 1021, 1114, 1026, 3, 28, 1536, 3675:
      return (.full, "the database cannot grow: make room on the server's disk; nothing was lost")
    case 1153, 2020:
      return (
        .failed, "a value is larger than the server takes at once: raise max_allowed_packet on it, or lower batchSize"
      )
    case 126, 127, 145, 1034, 1035, 1194, 1195, 1712, 1932, 1877:
      return (.corrupt, "a table is damaged: run CHECK TABLE on it and restore it from a backup")
    default: return nil
    }
  }

  // MARK: Statements

  private static func aboutStatement(_ number: UInt32) -> (StoreError.Code, String) {
    switch number {
    case 1146, 1051: (.noSuchTable, "a table that the statement names is not there")
    case 1054: (.noSuchColumn, "a column that the statement names is not there")
    case 1048, 1364, 1451, 1452, 1216, 1217, 1062, 1586, 1644, 3819, 4025, 1442, 1406, 1264, 1265, 1366, 1369, 1761:
      (.refused, "a constraint or trigger of the application refused the change")
    case 1176: (.noUsableKey, "the key's index was dropped or renamed: see that the table has its key, and try again")
    case 1305: (.refused, "a trigger calls a function that is not there")
    case 1267, 1270, 1271, 1253:
      (.failed, "a value cannot be compared with a column, whose character set does not have it")
    case 1064, 1149: (.failed, "the server does not take the statement")
    case 1295: (.failed, "the server does not prepare such a statement")
    default: (.failed, "the server failed with error \(number)")
    }
  }

  // MARK: Words

  /// Some messages hold what was bound, a token perhaps: they are shown without it.
  static func withoutValues(_ words: String, _ number: UInt32) -> String {
    switch number {
    case 1062, 1586, 1366, 1292, 1411, 1525, 1264, 1265, 1406, 1300, 3140, 3141, 4037, 4038: break
    default: return words
    }
    guard let open = words.firstIndex(of: "'") else { return words }
    let head = words[..<open] + "'…'"
    // The value may hold quotes: what is known to come behind it is looked for from the end.
    let end = words.lastRange(of: "' for ") ?? words.lastRange(of: "' at ")
    guard let end, end.lowerBound > open else { return String(head) }
    return head + " " + words[words.index(after: end.lowerBound)...].drop { $0 == " " }
  }

  private static func quoted(_ name: String) -> String { MySQLDialect.quote(name) }
}

/// What a statement is part of. In a transaction that writes, a statement is slow because of locks alone.
enum SQLModeKind {
  case opening, read, write
}

/// What the server's message about a lacking right names. For the sentence alone: nothing is decided by it.
struct DeniedCommand {
  var verb: String?
  var user: String?
  var table: String?

  /// "SELECT, UPDATE command denied to user 'anna'@'localhost' for table `shop`.`devices`", or without the database.
  init(_ words: String) {
    guard let command = words.lastRange(of: " command denied to user ") else { return }
    let verb = words[..<command.lowerBound]
    if verb.allSatisfy({ $0.isUppercase || $0 == "," || $0 == " " }) { self.verb = String(verb) }
    let rest = words[command.upperBound...]
    guard let place = rest.lastRange(of: "table ") else { return }
    user = rest.lastRange(of: " for ").map { String(rest[..<$0.lowerBound]) }
    let name = rest[place.upperBound...].split(separator: ".").last ?? ""
    table = name.trimmed { $0 == "'" || $0 == "`" }
  }
}

extension StringProtocol where SubSequence == Substring {
  /// Where the other text stands for the last time.
  func lastRange(of other: String) -> Range<Index>? {
    var index = endIndex
    while index > startIndex {
      index = self.index(before: index)
      if self[index...].hasPrefix(other) { return index..<self.index(index, offsetBy: other.count) }
    }
    return nil
  }

  func trimmed(_ isOuter: (Character) -> Bool) -> String {
    var rest = self[startIndex..<endIndex]
    while let first = rest.first, isOuter(first) { rest.removeFirst() }
    while let last = rest.last, isOuter(last) { rest.removeLast() }
    return String(rest)
  }
}
