/// Which GRANT a role lacks.
enum PostgresRights {
  /// What to run, as far as the server's words and the statement tell.
  ///
  /// The server names the table in its message alone, in the language of `lc_messages`; where that is not English, the
  /// sentence names all that Zonai needs.
  static func sentence(words: String, statement: String, role: String) -> String {
    let role = quoted(role)
    let parts = words.split(separator: " ").map { String($0) }
    guard parts.starts(with: ["permission", "denied", "for"]), parts.count > 4 else {
      if words.hasPrefix("must be owner of") {
        return "only their owner may upgrade Zonai's tables: run migrate as the role that created them"
      }
      return "the role \(role) lacks a right: GRANT SELECT, UPDATE (DELETE for deleteRow) ON the audience's table, and "
        + "SELECT, INSERT, UPDATE, DELETE ON Zonai's tables TO \(role)"
    }
    let name = parts.dropFirst(4).joined(separator: " ")
    switch parts[3] {
    case "schema":
      let right = statement.hasPrefix("CREATE") ? "USAGE, CREATE" : "USAGE"
      return "the role \(role) may not use the schema \(name): GRANT \(right) ON SCHEMA \(quoted(name)) TO \(role)"
    case "table", "view", "relation":
      return
        "the role \(role) may not do that to \(name): GRANT \(rights(name, statement)) ON \(quoted(name)) TO \(role)"
    default: return "the role \(role) lacks a right on the \(parts[3]) \(name): GRANT it"
    }
  }

  private static func rights(_ table: String, _ statement: String) -> String {
    if table.hasPrefix("zonai_") { return "SELECT, INSERT, UPDATE, DELETE" }
    if statement.contains("DELETE FROM") { return "SELECT, UPDATE, DELETE" }
    return statement.contains("UPDATE") ? "SELECT, UPDATE" : "SELECT"
  }

  /// Quoted where it must be.
  static func quoted(_ name: String) -> String {
    let isPlain = name.utf8.enumerated().allSatisfy { index, byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "_")
        || (index > 0 && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte))
    }
    if isPlain { return name }
    return "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}
