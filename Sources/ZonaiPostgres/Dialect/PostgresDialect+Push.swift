import ZonaiCore
import ZonaiSQL

extension PostgresDialect {
  /// gen_random_uuid came with version 13, a UUID of version 7 later still.
  public var newID: StaticString {
    """
    overlay(overlay(overlay(overlay(lpad(to_hex(CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)), 12, '0')
    || '7' || substr(md5(CAST(random() AS TEXT) || CAST(clock_timestamp() AS TEXT)), 1, 3)
    || substr('89ab', 1 + CAST(floor(random() * 4) AS INTEGER), 1)
    || substr(md5(CAST(random() AS TEXT) || CAST(random() AS TEXT)), 1, 15)
    PLACING '-' FROM 9 FOR 0) PLACING '-' FROM 14 FOR 0) PLACING '-' FROM 19 FOR 0) PLACING '-' FROM 24 FOR 0)
    """
  }

  /// What `zonai_push` does. jsonb has one text for equal documents, so that is how the same request is known.
  static let pushBody = """

    #variable_conflict use_column
    DECLARE
      zonai_app text;
      job text;
      known text;
    BEGIN
      IF jsonb_typeof(zonai_push.request) IS DISTINCT FROM 'object' THEN
        RAISE EXCEPTION 'zonai_push wants a JSON object as request' USING ERRCODE = 'invalid_parameter_value';
      END IF;
      zonai_app := COALESCE(zonai_push.request->>'app', '');
      IF jsonb_typeof(zonai_push.request->'app') NOT IN ('string', 'null')
        OR zonai_app !~ '^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$'
      THEN
        RAISE EXCEPTION 'zonai_push: "app" must be at most 64 letters, digits, ".", "-" and "_", and begin with a letter or a digit'
          USING ERRCODE = 'invalid_parameter_value';
      END IF;
      LOOP
        INSERT INTO zonai_jobs (app, request, idempotency_key)
        VALUES (zonai_app, CAST(zonai_push.request AS text), zonai_push.idempotency_key)
        ON CONFLICT (app, idempotency_key) DO NOTHING RETURNING id INTO job;
        IF FOUND THEN
          PERFORM pg_notify('\(PostgresNotifier.channel)', '');
          RETURN job;
        END IF;
        SELECT j.id, j.request INTO job, known FROM zonai_jobs AS j
        WHERE j.app = zonai_app AND j.idempotency_key = zonai_push.idempotency_key;
        IF FOUND AND known = CAST(zonai_push.request AS text) THEN
          RETURN job;
        ELSIF FOUND THEN
          RAISE EXCEPTION
            'zonai: the idempotency key belongs to a job that says something else: use another key for another push'
            USING ERRCODE = 'unique_violation';
        END IF;
        -- It was removed meanwhile.
      END LOOP;
    END

    """

  /// Makes the function beside `zonai_jobs`, with the rights of its owner, for nobody but whom EXECUTE is granted to.
  public func makePushRoutine(on connection: PostgresConnection) throws(StoreError) -> String? {
    let asked = SQLStatement(
      text: """
        SELECT n.nspname, p.prosrc, p.prosecdef::int, array_to_string(p.proconfig, ';'), quote_ident(n.nspname)
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        LEFT JOIN pg_proc AS p ON p.oid = to_regprocedure(quote_ident(n.nspname) || '.zonai_push(jsonb, text)')
        WHERE c.oid = to_regclass('zonai_jobs')
        """, values: [])
    let found = try connection.first(asked) { row throws(StoreError) in
      (
        schema: row.text(0), body: row.optionalText(1), isDefiner: row.optionalInteger(2) == 1,
        isFixed: row.optionalText(3) == "search_path=\(row.text(4)), pg_temp"
      )
    }
    guard let found else { throw StoreError(.notMigrated, "zonai_jobs is not on the search_path of this role") }
    if found.body == Self.pushBody, found.isDefiner, found.isFixed { return nil }
    let schema = quoted(found.schema)
    // A temporary table of the caller's must not stand for zonai_jobs: pg_temp comes last.
    // https://www.postgresql.org/docs/current/sql-createfunction.html#SQL-CREATEFUNCTION-SECURITY
    let made = """
      CREATE OR REPLACE FUNCTION \(schema).zonai_push(request jsonb, idempotency_key text DEFAULT NULL)
      RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = \(schema), pg_temp AS $zonai$\(Self.pushBody)$zonai$
      """
    try connection.run(SQLStatement(text: made, values: [], isReused: false))
    guard found.body == nil else { return nil }
    let revoked = "REVOKE ALL ON FUNCTION \(schema).zonai_push(jsonb, text) FROM PUBLIC"
    try connection.run(SQLStatement(text: revoked, values: [], isReused: false))
    return nil
  }
}
