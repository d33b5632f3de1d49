import ZonaiCore
import ZonaiSQL

extension SQLiteDialect {
  /// The trigger that keeps idempotency keys where the application inserts a request: the unique key alone would refuse the
  /// same request too.
  ///
  /// It knows the same request by its text: SQLite may be built without JSON.
  static let pushTrigger = """
    CREATE TRIGGER zonai_push BEFORE INSERT ON zonai_jobs
    WHEN EXISTS (SELECT 1 FROM zonai_jobs WHERE idempotency_key = NEW.idempotency_key)
    BEGIN
      SELECT CASE
        WHEN (SELECT request FROM zonai_jobs WHERE idempotency_key = NEW.idempotency_key) = NEW.request
        THEN RAISE(IGNORE)
        ELSE RAISE(ABORT, 'zonai: the idempotency key belongs to a job that says something else: use another key for another push')
      END;
    END
    """

  public func makePushRoutine(on connection: SQLiteConnection) throws(StoreError) -> String? {
    let made = SQLStatement(
      text: "SELECT sql FROM main.sqlite_master WHERE type = 'trigger' AND name = 'zonai_push'", values: [])
    let there = try connection.first(made) { row throws(StoreError) in row.text(0) }
    guard there != Self.pushTrigger else { return nil }
    if there != nil {
      try connection.run(SQLStatement(text: "DROP TRIGGER main.zonai_push", values: [], isReused: false))
    }
    try connection.run(SQLStatement(text: Self.pushTrigger, values: [], isReused: false))
    return nil
  }
}
