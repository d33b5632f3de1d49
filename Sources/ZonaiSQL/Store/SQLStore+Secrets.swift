import ZonaiCore

extension SQLStore {
  public func exchange(_ offer: SecretOffer) async throws(StoreError) -> Secret? {
    guard let secret = offer.secret else {
      return try await read { connection throws(StoreError) in
        try checkVersion(connection)
        return try stored(offer, connection)
      }
    }
    return try await write { connection throws(StoreError) in
      try checkVersion(connection)
      if let stored = try stored(offer, connection) { return stored }
      var upsert = SQLBuilder(dialect)
      dialect.appendUpsert(
        into: "zonai_secrets",
        [("name", .text(offer.name)), ("value", .text(secret.value)), ("made_at", .integer(secret.madeAt))],
        key: ["name"], whenThere: [("value", .replace), ("made_at", .replace)], to: &upsert)
      try connection.run(upsert.statement())
      return secret
    }
  }

  /// The stored secret, if it will do.
  private func stored(_ offer: SecretOffer, _ connection: Driver.Connection) throws(StoreError) -> Secret? {
    let statement = sql(
      """
      SELECT value, made_at FROM zonai_secrets WHERE name = \(offer.name) AND made_at >= \(offer.notMadeBefore)
      \(words: dialect.lockClause)
      """)
    return try connection.first(statement) { row throws(StoreError) in
      Secret(value: row.text(0), madeAt: row.integer(1))
    }
  }
}
