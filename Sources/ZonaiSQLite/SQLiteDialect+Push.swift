import ZonaiCore
import ZonaiSQL

extension SQLiteDialect {
  /// The app that an inserted request names. It needs SQLite's JSON functions, which are left out
  /// of few builds.
  private static let app = """
    CASE WHEN json_valid(NEW.request) THEN COALESCE(json_extract(NEW.request, '$.app'), '') ELSE '' END
    """

  /// The triggers that keep idempotency keys where the application inserts a request (the unique
  /// key alone would refuse the same request too), and that file it under its app. What is no JSON
  /// at all is the first worker's to refuse.
  static let pushTriggers: [(name: String, text: String)] = [
    ("zonai_push", pushTrigger), ("zonai_push_app", appTrigger),
  ]

  private static let pushTrigger = """
    CREATE TRIGGER zonai_push BEFORE INSERT ON zonai_jobs
    WHEN NEW.app = '?'
    BEGIN
      SELECT RAISE(ABORT, 'zonai: "app" must be at most 64 letters, digits, ".", "-" and "_", and begin with a letter or a digit')
      FROM (SELECT \(app) AS app) AS a
      WHERE typeof(a.app) <> 'text' OR length(a.app) > 64 OR a.app GLOB '*[^A-Za-z0-9._-]*' OR a.app GLOB '[._-]*'
        OR instr(a.app, char(0)) > 0;
      SELECT CASE
        WHEN j.request = NEW.request THEN RAISE(IGNORE)
        ELSE RAISE(ABORT, 'zonai: the idempotency key belongs to a job that says something else: use another key for another push')
      END
      FROM zonai_jobs AS j WHERE j.app = \(app) AND j.idempotency_key = NEW.idempotency_key;
    END
    """

  private static let appTrigger = """
    CREATE TRIGGER zonai_push_app AFTER INSERT ON zonai_jobs WHEN NEW.app = '?'
    BEGIN
      UPDATE zonai_jobs SET app = \(app) WHERE id = NEW.id;
    END
    """

  public func makePushRoutine(on connection: SQLiteConnection) throws(StoreError) -> String? {
    for (name, text) in Self.pushTriggers {
      let made = SQLStatement(
        text: "SELECT sql FROM main.sqlite_master WHERE type = 'trigger' AND name = ?", values: [.text(name)])
      let there = try connection.first(made) { row throws(StoreError) in row.text(0) }
      guard there != text else { continue }
      if there != nil {
        try connection.run(SQLStatement(text: "DROP TRIGGER main.\(name)", values: [], isReused: false))
      }
      try connection.run(SQLStatement(text: text, values: [], isReused: false))
    }
    return nil
  }
}
