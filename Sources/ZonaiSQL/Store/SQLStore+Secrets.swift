import ZonaiCore

extension SQLStore {
  public func exchange(_ offer: SecretOffer) async throws(StoreError) -> SecretAnswer {
    guard let secret = offer.secret else {
      return try await read { connection throws(StoreError) in
        try checkVersion(connection)
        let now = try now(connection)
        return SecretAnswer(secret: try stored(offer, now: now, connection), now: now)
      }
    }
    return try await write { connection throws(StoreError) in
      try checkVersion(connection)
      try lockName(offer.name, connection)
      // After the lock, which may have been waited for.
      let now = try now(connection)
      if let stored = try stored(offer, now: now, connection) { return SecretAnswer(secret: stored, now: now) }
      try connection.run(
        sql(
          """
          UPDATE zonai_secrets SET value = \(secret.value), made_at = \(secret.madeAt), ends_at = \(secret.endsAt)
          WHERE name = \(offer.name)
          """))
      try connection.run(sql("DELETE FROM zonai_secrets WHERE ends_at <= \(now)"))
      return SecretAnswer(secret: secret, now: now)
    }
  }

  /// Makes sure that the row is there, and that nobody else changes it until the transaction ends: a row that is missing
  /// cannot be locked, and of two who found none both would store theirs.
  private func lockName(_ name: String, _ connection: Driver.Connection) throws(StoreError) {
    var upsert = SQLBuilder(dialect)
    dialect.appendUpsert(
      into: "zonai_secrets",
      [("name", .text(name)), ("value", .text("")), ("made_at", .integer(0)), ("ends_at", .integer(0))],
      key: ["name"], whenThere: [("made_at", .add)], to: &upsert)
    try connection.run(upsert.statement())
  }

  /// The stored secret, if it will do.
  private func stored(
    _ offer: SecretOffer, now: Int64, _ connection: Driver.Connection
  ) throws(StoreError) -> Secret? {
    let statement = sql(
      """
      SELECT value, made_at, ends_at FROM zonai_secrets
      WHERE name = \(offer.name) AND made_at >= \(offer.notMadeBefore) AND ends_at > \(now)
      """)
    return try connection.first(statement) { row throws(StoreError) in
      Secret(value: row.text(0), madeAt: row.integer(1), endsAt: row.integer(2))
    }
  }
}
