import ZonaiCore

/// Why no connection came about, as `StoreError`.
enum ConnectFailure {
  /// What libpq's verbose words mean.
  static func error(_ words: String, place: PostgresPlace) -> StoreError {
    let (number, said) = number(in: words)
    let (code, sentence) = number.flatMap { meaning($0, place) } ?? ownMeaning(words, place)
    return StoreError(code, sentence, databaseWords: place.safe(said ?? words))
  }

  /// The server's number within `FATAL:  28P01: password authentication failed`, and what follows it.
  private static func number(in words: String) -> (String?, String?) {
    let bytes = Array(words.utf8)
    guard bytes.count > 10 else { return (nil, nil) }
    for start in 0..<(bytes.count - 10) where bytes[start..<start + 3].elementsEqual(":  ".utf8) {
      let number = bytes[start + 3..<start + 8]
      let isNumber = number.allSatisfy { byte in
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      }
      guard isNumber, bytes[start + 8] == UInt8(ascii: ":"), bytes[start + 9] == UInt8(ascii: " ") else { continue }
      // What follows a semicolon is a hint, or the same again over another kind of connection.
      let said = String(decoding: bytes[(start + 10)...], as: UTF8.self)
      return (String(decoding: number, as: UTF8.self), said.split(separator: ";").first.map { String($0) })
    }
    return (nil, nil)
  }

  /// https://www.postgresql.org/docs/current/errcodes-appendix.html
  private static func meaning(_ number: String, _ place: PostgresPlace) -> (StoreError.Code, String)? {
    switch number {
    case "28P01":
      (
        .denied,
        "PostgreSQL at \(place) does not take the password of \(place.user): set PGPASSWORD, or correct its line in "
          + "~/.pgpass"
      )
    case "28000":
      (
        .denied,
        "PostgreSQL at \(place) does not let \(place.user) in: correct the user's name, or let it in by pg_hba.conf"
      )
    case "3D000":
      (.notFound, "PostgreSQL at \(place) has no database \(place.database): correct its name, or create it")
    case "42501":
      (
        .denied,
        "\(place.user) may not use the database \(place.database): GRANT CONNECT ON DATABASE \"\(place.database)\" TO "
          + "\"\(place.user)\""
      )
    case "53300":
      (
        .unavailable,
        "PostgreSQL at \(place) has no connection left for \(place.user): raise max_connections (or the role's limit), or "
          + "run fewer workers"
      )
    case "57P03", "57P01", "57P02":
      (.unavailable, "PostgreSQL at \(place) is starting up or shutting down: try again in a moment")
    case "53000", "53100", "53200", "53400":
      (.unavailable, "PostgreSQL at \(place) lacks memory, disk or descriptors for one more connection")
    default: nil
    }
  }

  /// What libpq itself says, in English whatever the server's language.
  private static func ownMeaning(_ words: String, _ place: PostgresPlace) -> (StoreError.Code, String) {
    func says(_ piece: String) -> Bool { words.contains(piece) }
    if says("SSL") || says("certificate") || says("GSSAPI") {
      return (
        .denied,
        "the encryption that the address asks for cannot be had at \(place): compare sslmode, sslrootcert and the host's "
          + "name with the server's certificate"
      )
    }
    if says("no password supplied") {
      return (
        .denied,
        "PostgreSQL at \(place) wants a password of \(place.user): set PGPASSWORD, or give it a line in ~/.pgpass"
      )
    }
    if says("authentication") {
      return (.denied, "PostgreSQL at \(place) asks \(place.user) for a proof that libpq cannot give: see pg_hba.conf")
    }
    if says("could not translate host name") {
      return (.unavailable, "the host of \(place) has no address: correct its name, or see to the name service")
    }
    if says("session is") || says("hot standby") || says("in recovery") {
      return (.unavailable, "no server at \(place) is of the kind that target_session_attrs asks for")
    }
    if says("service") || says("invalid") {
      return (.invalidRequest, "the PostgreSQL address cannot be used: correct it, or the service file that it names")
    }
    return (.unavailable, "cannot reach PostgreSQL at \(place): see whether it runs there and listens")
  }
}
