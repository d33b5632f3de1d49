import Testing
import ZonaiCore

/// What is refused, in which code, and with which help in the sentence.
@Suite struct AudienceRulesTests {
  static let table = TableDescription(
    table: "devices",
    columns: [
      ColumnDescription(name: "id", type: "INTEGER", kind: .integer(), isNullable: false),
      ColumnDescription(name: "mail", type: "TEXT", kind: .text(), isNullable: false),
      ColumnDescription(
        name: "nick", type: "TEXT", kind: .text(), isNullable: false, orderProblem: "its collation ignores case"),
      ColumnDescription(name: "phone", type: "TEXT", kind: .text(), isNullable: true),
      ColumnDescription(name: "token", type: "TEXT", kind: .text(), isNullable: true),
      ColumnDescription(name: "fixed_token", type: "TEXT", kind: .text(), isNullable: false),
      ColumnDescription(name: "platform", type: "TEXT", kind: .text(), isNullable: true),
      ColumnDescription(name: "made", type: "TEXT", kind: .text(), isNullable: false, isGenerated: true),
      ColumnDescription(name: "many", type: "text[]", kind: .array, isNullable: true),
      ColumnDescription(name: "document", type: "jsonb", kind: .json, isNullable: true),
      ColumnDescription(name: "state", type: "state", kind: .choice(["active", "blocked"]), isNullable: true),
    ],
    primaryKey: ["id"], uniqueKeys: [["mail", "id"], ["mail"], ["nick"], ["phone"]], referencedBy: ["orders.device"])

  static func request(
    _ audience: Audience, policy: Policy = .clearColumn, key: String? = nil, isMeant: Bool = false
  ) -> EnqueueRequest {
    EnqueueRequest(
      definition: JobDefinition(
        message: PushMessage(title: "hello"), audience: audience, policy: policy,
        routes: Routes(apple: .apns, android: .fcm, unknown: .fcm)),
      idempotencyKey: key, deletesReferencedRows: isMeant)
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let request: EnqueueRequest
    var table = AudienceRulesTests.table
    let code: StoreError.Code
    let help: String
  }

  @Test(arguments: [
    Refusal(
      testDescription: "token column", request: request(Audience("devices", token: "tokn")), code: .noSuchColumn,
      help: "no column tokn, named as token column: it has token, "),
    Refusal(
      testDescription: "platform column",
      request: request(Audience("devices", token: "token", platform: .column("os"))), code: .noSuchColumn,
      help: "named as platform column"),
    Refusal(
      testDescription: "last-seen column", request: request(Audience("devices", token: "token", lastSeen: "seen")),
      code: .noSuchColumn, help: "named as last-seen column"),
    Refusal(
      testDescription: "column of the predicate",
      request: request(Audience("devices", token: "token", where: Column("platfrom") == "ios" || Column("id") > 3)),
      code: .noSuchColumn, help: "named as column of the predicate: it has platform"),
    Refusal(
      testDescription: "no primary key", request: request(Audience("devices", token: "token")),
      table: TableDescription(table: "devices", columns: table.columns, primaryKey: [], uniqueKeys: [["mail"]]),
      code: .noUsableKey, help: "it has (mail)"),
    Refusal(
      testDescription: "no key", request: request(Audience("devices", key: ["platform"], token: "token")),
      code: .noUsableKey, help: "platform is not a key of devices"),
    Refusal(
      testDescription: "part of a key",
      request: request(Audience("devices", key: ["id", "platform"], token: "token")),
      code: .noUsableKey, help: "exactly the columns"),
    Refusal(
      testDescription: "one column twice", request: request(Audience("devices", key: ["id", "id"], token: "token")),
      code: .noUsableKey, help: "exactly the columns"),
    Refusal(
      testDescription: "order", request: request(Audience("devices", key: ["nick"], token: "token")),
      code: .noUsableKey, help: "since its collation ignores case"),
    Refusal(
      testDescription: "nullable unique key", request: request(Audience("devices", key: ["phone"], token: "token")),
      code: .noUsableKey, help: "phone of devices may be NULL"),
    Refusal(
      testDescription: "primary key with NULL", request: request(Audience("odd", token: "token")),
      table: TableDescription(
        table: "odd",
        columns: [
          ColumnDescription(name: "id", type: "TEXT", kind: .text(), isNullable: true, holdsNull: true),
          ColumnDescription(name: "token", type: "TEXT", kind: .text(), isNullable: true),
        ], primaryKey: ["id"]),
      code: .noUsableKey, help: "some rows of odd are NULL"),
    Refusal(
      testDescription: "NOT NULL token", request: request(Audience("devices", token: "fixed_token")),
      code: .tokenNotNullable, help: "make it nullable, or use the policy deleteRow"),
    Refusal(
      testDescription: "generated token", request: request(Audience("devices", token: "made")),
      code: .tokenNotNullable,
      help: "made of devices is generated from other columns and cannot be cleared: name the column"),
    Refusal(
      testDescription: "array of tokens", request: request(Audience("devices", token: "many"), policy: .none),
      code: .noSingleToken, help: "CREATE TABLE device_tokens AS SELECT id, unnest(many) AS token FROM devices"),
    Refusal(
      testDescription: "JSON of tokens", request: request(Audience("devices", token: "document"), policy: .none),
      code: .noSingleToken, help: "document of devices is JSON, and a row of an audience holds one token"),
    Refusal(
      testDescription: "a word that the type lacks",
      request: request(Audience("devices", token: "token", where: !(Column("state") == "actve"))),
      code: .invalidPredicate, help: "state is state: compare it with one of its words, 'active', 'blocked'"),
    Refusal(
      testDescription: "the order of words",
      request: request(Audience("devices", token: "token", where: Column("state") > "active")),
      code: .invalidPredicate, help: "no order that can be relied on: use =, <> or in"),
    Refusal(
      testDescription: "a number for text",
      request: request(Audience("devices", token: "token", where: Column("id") > 0 && Column("mail").in(["a", 0]))),
      code: .invalidPredicate, help: "mail is TEXT: compare it with text in single quotes, such as mail = 'word'"),
    Refusal(
      testDescription: "like on a number",
      request: request(Audience("devices", token: "token", where: Column("id").like("1%"))),
      code: .invalidPredicate, help: "id is INTEGER, which like does not search: compare it with a number"),
    Refusal(
      testDescription: "token in the key", request: request(Audience("devices", key: ["mail"], token: "mail")),
      code: .tokenNotNullable, help: "is part of the key"),
    Refusal(
      testDescription: "referenced rows", request: request(Audience("devices", token: "token"), policy: .deleteRow),
      code: .referencedRows, help: "orders.device"),
    Refusal(
      testDescription: "= NULL",
      request: request(Audience("devices", token: "token", where: .not(.and([.compare("mail", .equal, .null)])))),
      code: .invalidPredicate, help: "use mail is null"),
    Refusal(
      testDescription: "NULL in a list",
      request: request(Audience("devices", token: "token", where: Column("mail").in(["a", nil]))),
      code: .invalidPredicate, help: "or mail is null"),
    Refusal(
      testDescription: "empty idempotency key", request: request(Audience("devices", token: "token"), key: ""),
      code: .invalidRequest, help: "idempotency key is empty"),
  ])
  func `a mistake is refused with what to do`(_ refusal: Refusal) {
    let error = #expect(throws: StoreError.self) {
      try AudienceRules.resolve(refusal.request, against: refusal.table)
    }
    #expect(error?.code == refusal.code)
    #expect(error?.sentence.contains(refusal.help) == true, "\(error?.sentence ?? "no error")")
    #expect(error?.wasFoundBeforeWriting == true)
  }

  @Test func `the primary key is filled in`() throws {
    let definition = try AudienceRules.resolve(Self.request(Audience("devices", token: "token")), against: Self.table)
    #expect(definition.audience.key == ["id"])
  }

  @Test func `a named key takes the order of its index`() throws {
    let audience = Audience("devices", key: ["id", "mail"], token: "token")
    let definition = try AudienceRules.resolve(Self.request(audience), against: Self.table)
    #expect(definition.audience.key == ["mail", "id"])
  }

  @Test func `a primary key that may be NULL is taken while no row is`() throws {
    let table = TableDescription(
      table: "odd",
      columns: [
        ColumnDescription(name: "id", type: "TEXT", kind: .text(), isNullable: true),
        ColumnDescription(name: "token", type: "TEXT", kind: .text(), isNullable: true),
      ], primaryKey: ["id"])
    let definition = try AudienceRules.resolve(Self.request(Audience("odd", token: "token")), against: table)
    #expect(definition.audience.key == ["id"])
  }

  @Test(arguments: [Policy.deleteRow, .none])
  func `a token column that is NOT NULL is fine where it is not cleared`(_ policy: Policy) throws {
    let request = Self.request(Audience("devices", token: "fixed_token"), policy: policy, isMeant: true)
    _ = try AudienceRules.resolve(request, against: Self.table)
  }
}
