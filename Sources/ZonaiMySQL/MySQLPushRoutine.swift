import ZonaiCore
import ZonaiSQL

/// The procedure by which SQL of other programs enqueues, and what makes a job's id.
enum MySQLPushRoutine {
  /// Of MariaDB's and MySQL's functions, those that both have: MariaDB has RANDOM_BYTES since 10.10 only.
  static var newID: StaticString {
    """
    LOWER(INSERT(INSERT(INSERT(INSERT(CONCAT(
    LPAD(HEX(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000), 12, '0'), '7',
    SUBSTR(SHA2(CONCAT(UUID(), RAND()), 256), 1, 3), SUBSTR('89ab', 1 + FLOOR(RAND() * 4), 1),
    SUBSTR(SHA2(CONCAT(UUID(), RAND()), 256), 1, 15)), 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-'))
    """
  }

  /// It looks before it inserts, so that a repetition holds no lock of the job until the application commits. The same request
  /// is known by its text: the two servers compare JSON in no common way.
  private static let parameters = """
    (IN push_request LONGTEXT CHARACTER SET utf8mb4, IN push_key VARCHAR(255) CHARACTER SET utf8mb4,
    OUT job VARCHAR(255) CHARACTER SET utf8mb4)
    """

  private static let body = """
    BEGIN
      DECLARE push_app LONGTEXT CHARACTER SET utf8mb4;
      DECLARE known LONGTEXT CHARACTER SET utf8mb4;
      DECLARE is_there BOOLEAN DEFAULT FALSE;
      DECLARE tries INT DEFAULT 0;
      DECLARE CONTINUE HANDLER FOR NOT FOUND SET job = NULL;
      DECLARE CONTINUE HANDLER FOR 1062 SET is_there = TRUE;
      IF NOT COALESCE(JSON_VALID(push_request), 0) OR JSON_TYPE(push_request) <> 'OBJECT' THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'zonai_push wants a JSON object as request';
      END IF;
      IF LENGTH(push_key) > 255 THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'zonai_push wants an idempotency key of 255 bytes at most';
      END IF;
      SET push_app = COALESCE(JSON_TYPE(JSON_EXTRACT(push_request, '$.app')), 'NULL');
      IF push_app = 'NULL' THEN
        SET push_app = '';
      ELSEIF push_app = 'STRING' THEN
        SET push_app = JSON_UNQUOTE(JSON_EXTRACT(push_request, '$.app'));
      ELSE
        SET push_app = '?';
      END IF;
      IF CHAR_LENGTH(push_app) > 64
        OR push_app COLLATE utf8mb4_bin REGEXP '^[._-]|[^A-Za-z0-9._-]'
      THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
          'zonai_push wants as app at most 64 letters, digits, ".", "-" and "_", the first a letter or a digit';
      END IF;
      push: LOOP
        SET job = NULL;
        SELECT j.id, j.request INTO job, known FROM zonai_jobs AS j
        WHERE j.app = push_app AND j.idempotency_key = push_key;
        IF job IS NULL THEN
          SELECT \(newID) INTO job;
          SET is_there = FALSE;
          INSERT INTO zonai_jobs (id, app, request, idempotency_key) VALUES (job, push_app, push_request, push_key);
          IF NOT is_there THEN
            LEAVE push;
          END IF;
          -- Another transaction was first, which this one's view of the database may not show.
          SELECT j.id, j.request INTO job, known FROM zonai_jobs AS j
          WHERE j.app = push_app AND j.idempotency_key = push_key LOCK IN SHARE MODE;
        END IF;
        IF job IS NOT NULL THEN
          IF known IS NULL OR CAST(known AS BINARY) <> CAST(push_request AS BINARY) THEN
            SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT =
              'zonai: the idempotency key belongs to a job that says something else: use another key for another push';
          END IF;
          LEAVE push;
        END IF;
        SET tries = tries + 1;
        IF tries = 3 THEN
          SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'zonai_push met others with this key: run the transaction again';
        END IF;
      END LOOP;
    END
    """

  /// Tells one form of the procedure from another: the servers show its text to few.
  private static let comment: String = {
    // FNV-1a. https://datatracker.ietf.org/doc/html/draft-eastlake-fnv
    let digest = (parameters + body).utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    return "Enqueues a push of Zonai's, form " + String(digest, radix: 16)
  }()

  /// Makes the procedure in the connection's database, with the rights of this user, for nobody but whom EXECUTE is granted to.
  static func make(on connection: some SQLConnection) throws(StoreError) -> String? {
    let there = SQLStatement(
      text: """
        SELECT ROUTINE_COMMENT FROM information_schema.ROUTINES
        WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_TYPE = 'PROCEDURE' AND ROUTINE_NAME = 'zonai_push'
        """, values: [], isReused: false)
    let known = try connection.first(there) { row throws(StoreError) in row.text(0) }
    guard known != comment else { return nil }
    let asked = SQLStatement(text: "SELECT VERSION() LIKE '%MariaDB%'", values: [], isReused: false)
    let isMariaDB = try connection.first(asked) { row throws(StoreError) in row.integer(0) != 0 } ?? false
    do throws(StoreError) {
      // MariaDB's OR REPLACE keeps whom it was granted to; MySQL has none. https://mariadb.com/kb/en/create-procedure/
      if known != nil, !isMariaDB { try run("DROP PROCEDURE IF EXISTS zonai_push", connection) }
      let create = isMariaDB ? "CREATE OR REPLACE" : "CREATE"
      let text = comment.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
      try run(
        """
        \(create) PROCEDURE zonai_push \(parameters)
        MODIFIES SQL DATA SQL SECURITY DEFINER COMMENT '\(text)'
        \(body)
        """, connection)
    } catch {
      guard error.code == .denied else { throw error }
      throw StoreError(
        .denied,
        "this user may not make the procedure zonai_push, by which SQL of other programs enqueues: GRANT CREATE ROUTINE, "
          + "ALTER ROUTINE on the database to it, and run migrate again; everything else works without it",
        databaseWords: error.databaseWords, statement: error.statement)
    }
    guard known != nil, !isMariaDB else { return nil }
    return "the procedure zonai_push was made anew, and MySQL forgot who may call it: GRANT EXECUTE ON PROCEDURE "
      + "zonai_push to the application's users again"
  }

  private static func run(_ text: String, _ connection: some SQLConnection) throws(StoreError) {
    try connection.run(SQLStatement(text: text, values: [], isReused: false))
  }
}
