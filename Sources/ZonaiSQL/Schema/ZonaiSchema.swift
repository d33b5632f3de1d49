import ZonaiCore

/// One of Zonai's own tables, as a migration makes it.
public struct ZonaiTable: Sendable {
  public let name: StaticString
  public let columns: [ZonaiColumn]
  public let primaryKey: [StaticString]
  public var uniqueKey: [StaticString] = []
  /// Columns that statements look up rows by, besides the primary key.
  public var index: [StaticString] = []
}

public struct ZonaiColumn: Sendable {
  public enum Kind: Sendable {
    /// 64 bits.
    case integer
    /// Short enough to be part of a key in any database (255 bytes, see `StoredWord`), compared byte by byte.
    case word
    /// Text of any length.
    case text
  }

  public let name: StaticString
  public let kind: Kind
  public let isNullable: Bool
  public let initial: Initial?

  /// What a row that does not name the column has in it.
  public enum Initial: Sendable, ExpressibleByStringLiteral {
    case literal(StaticString)
    /// The database's time, in milliseconds since 1970.
    case now
    /// A new job id.
    case newID

    public init(stringLiteral value: StaticString) { self = .literal(value) }
  }

  static func integer(_ name: StaticString, initial: Initial? = nil) -> ZonaiColumn {
    ZonaiColumn(name: name, kind: .integer, isNullable: false, initial: initial)
  }
  static func optionalInteger(_ name: StaticString) -> ZonaiColumn {
    ZonaiColumn(name: name, kind: .integer, isNullable: true, initial: nil)
  }
  static func word(_ name: StaticString, initial: Initial? = nil) -> ZonaiColumn {
    ZonaiColumn(name: name, kind: .word, isNullable: false, initial: initial)
  }
  static func optionalWord(_ name: StaticString) -> ZonaiColumn {
    ZonaiColumn(name: name, kind: .word, isNullable: true, initial: nil)
  }
  static func text(_ name: StaticString, initial: Initial? = nil) -> ZonaiColumn {
    ZonaiColumn(name: name, kind: .text, isNullable: false, initial: initial)
  }
  static func optionalText(_ name: StaticString) -> ZonaiColumn {
    ZonaiColumn(name: name, kind: .text, isNullable: true, initial: nil)
  }
}

/// Zonai's own tables. A step that was released is never changed: a new version is a new step behind it.
public enum ZonaiSchema {
  /// The steps from nothing to this build's version, which is their number; each may be run again after it was interrupted.
  static let steps: [[ZonaiTable]] = [[jobs, batches, tally, lanes, secrets, workers, apps]]

  /// Holds the version, one row, and when jobs that ended long ago were last removed.
  static let meta = ZonaiTable(
    name: "zonai_meta", columns: [.integer("id"), .integer("version"), .integer("retained_at", initial: "0")],
    primaryKey: ["id"])

  /// SQL of other programs writes into `request` and `idempotency_key`, in this and in every later
  /// version; everything else has a default, or is made of the request by a trigger, or by the
  /// worker that first looks at the job.
  static let jobs = ZonaiTable(
    name: "zonai_jobs",
    columns: [
      .word("id", initial: .newID), .word("state", initial: "'pending'"),
      // Until the request's own app is known; no app has such a name (`StoredApp`).
      .word("app", initial: "'?'"),
      // What its transports were bound to when it was enqueued or first claimed; NULL before.
      .optionalText("identities"),
      // The definition is NULL as long as there is only the request.
      .optionalText("request"), .optionalText("definition"), .optionalText("predicate"),
      // The transports that its routes need, so that a worker without one need not read the definition.
      .optionalText("transports"), .optionalWord("idempotency_key"), .integer("deletes_referenced", initial: "0"),
      .word("suspects", initial: "'ask'"), .text("kept_groups", initial: "'[]'"),
      // Where its pages have come to, the last key of the audience at the first claim, and whether the two have met.
      .optionalText("frontier"), .optionalText("last_key"), .integer("is_started", initial: "0"),
      .integer("at_end", initial: "0"),
      // 0: not claimed, 1: claimed and not answered, 2: answered.
      .integer("first_batch", initial: "0"),
      .integer("next_batch", initial: "1"),
      // Rises with every claim, over all jobs: the least recently claimed from comes first.
      .integer("turn", initial: "0"),
      .integer("delivered", initial: "0"), .integer("permanently_rejected", initial: "0"),
      .integer("transiently_failed", initial: "0"), .integer("expired", initial: "0"),
      .integer("pruned", initial: "0"), .integer("spared", initial: "0"), .integer("kept", initial: "0"),
      .integer("repeated_by_takeover", initial: "0"), .integer("repeated_after_lost_answer", initial: "0"),
      .integer("hooks_failed", initial: "0"),
      // Checks of tokens in another environment: how many since the present hour began.
      .integer("checks", initial: "0"), .integer("checks_since", initial: "0"),
      .optionalText("error_code"), .optionalText("error_detail"), .optionalText("notes"),
      .integer("created_at", initial: .now), .integer("due_at", initial: .now), .optionalInteger("started_at"),
      .optionalInteger("finished_at"), .integer("resumed_at", initial: "0"),
    ],
    primaryKey: ["id"], uniqueKey: ["app", "idempotency_key"], index: ["state", "app", "turn"])

  /// What each transport of an app is bound to.
  static let apps = ZonaiTable(
    name: "zonai_apps",
    columns: [
      .word("app"), .word("transport"), .text("identity"),
      // Rises with every rebind.
      .integer("version"), .integer("bound_at"),
    ],
    primaryKey: ["app", "transport"])

  /// Batches that are open; a settled one is gone.
  static let batches = ZonaiTable(
    name: "zonai_batches",
    columns: [
      .word("job"), .integer("batch"), .optionalText("from_key"), .text("to_key"),
      // NULL: the whole range is owed an answer. Otherwise only these recipients are.
      .optionalText("owed"), .integer("owed_count", initial: "0"), .optionalInteger("owed_due_at"),
      .integer("resting_count", initial: "0"),
      // The groups whose guard held somebody of it back.
      .optionalText("suspects"),
      .optionalText("rejections"),
      .integer("is_first"), .integer("fence", initial: "0"), .integer("takeovers", initial: "0"),
      // How many the present owner may have sent to without an answer, and whether it has committed its answers.
      .integer("unsettled", initial: "0"), .integer("is_settling", initial: "0"),
      // NULL: nobody has it. `due_at` is when it may be claimed: the lease's end, or the first not-before.
      .optionalWord("worker"), .integer("due_at"),
    ],
    primaryKey: ["job", "batch"], index: ["job", "due_at"])

  static let tally = ZonaiTable(
    name: "zonai_tally",
    columns: [
      // `line` stands for the seven that follow, which together are too long for a key.
      .word("job"), .word("line"), .text("transport"), .text("fingerprint"), .text("platform"),
      // An outcome, or `recorded`: a rejection whose prune is to come.
      .text("outcome"), .text("evidence"), .text("reason"), .text("detail"), .integer("count"),
    ],
    primaryKey: ["job", "line"])

  /// The record of each lane and platform, over all jobs.
  static let lanes = ZonaiTable(
    name: "zonai_lanes",
    columns: [
      .word("transport"), .word("fingerprint"), .word("platform"), .optionalInteger("last_delivered_at"),
      .integer("circumstantial_since"),
    ],
    primaryKey: ["transport", "fingerprint", "platform"])

  /// Who is there, or was within a day.
  static let workers = ZonaiTable(
    name: "zonai_workers",
    columns: [
      .word("worker"), .word("app", initial: "''"), .optionalText("host"), .optionalInteger("process"),
      .integer("started_at"), .integer("seen_at"),
      // How long its leases are: who was not heard of for longer is not alive.
      .integer("lease"),
      // Recipients settled since its start, and thousandths of them a second lately.
      .integer("settled", initial: "0"), .integer("rate", initial: "0"),
    ], primaryKey: ["worker"])

  /// What workers share beside jobs, for as long as it is worth anything. Nobody but Zonai's role needs to read it.
  static let secrets = ZonaiTable(
    name: "zonai_secrets",
    columns: [.word("name"), .text("value"), .integer("made_at"), .integer("ends_at")], primaryKey: ["name"])
}

extension ZonaiTable {
  /// What makes the table and its index, unless they are there.
  func statements(_ dialect: some SQLDialect) -> [SQLStatement] {
    var table = SQLBuilder(dialect)
    table.append("CREATE TABLE IF NOT EXISTS ")
    table.append(name)
    table.append(" (")
    for column in columns {
      table.append(column.name)
      table.append(" ")
      table.append(dialect.type(column.kind))
      if !column.isNullable { table.append(" NOT NULL") }
      if let initial = column.initial {
        // In parentheses everywhere: MySQL wants them around everything but a plain literal, and for every default of a text.
        table.append(" DEFAULT (")
        switch initial {
        case .literal(let literal): table.append(literal)
        case .now: table.append(dialect.now)
        case .newID: table.append(dialect.newID)
        }
        table.append(")")
      }
      table.append(", ")
    }
    if !uniqueKey.isEmpty {
      table.append("UNIQUE (")
      table.list(uniqueKey) { $1.append($0) }
      table.append("), ")
    }
    table.append("PRIMARY KEY (")
    table.list(primaryKey) { $1.append($0) }
    table.append(")")
    if dialect.indexesStandInTable, !index.isEmpty {
      table.append(", INDEX ")
      table.append(name)
      table.append("_order (")
      table.list(index) { $1.append($0) }
      table.append(")")
    }
    table.append(")")
    guard !index.isEmpty, !dialect.indexesStandInTable else { return [table.statement(isReused: false)] }
    var index = SQLBuilder(dialect)
    index.append("CREATE INDEX IF NOT EXISTS ")
    index.append(name)
    index.append("_order ON ")
    index.append(name)
    index.append(" (")
    index.list(self.index) { $1.append($0) }
    index.append(")")
    return [table.statement(isReused: false), index.statement(isReused: false)]
  }
}
