import Testing
import ZonaiJSON

/// Every mistake that a new user can make: one sentence, the right exit code, and nothing written.
@Suite(.sharedSimulator) struct BadInputTests {
  struct Mistake: Sendable, CustomTestStringConvertible {
    var what: String
    /// Put after the words of a push that would work; a later value takes the place of an earlier one.
    var instead: [String: String] = [:]
    var add: [String] = []
    var sql: String = ""
    var code: String
    var sentence: String

    var testDescription: String { what }
  }

  static let mistakes: [Mistake] = [
    Mistake(
      what: "an unknown table", instead: ["--table": "divices"], code: "noSuchTable", sentence: "divices"),
    Mistake(
      what: "an unknown token column", instead: ["--token-column": "tokn"], code: "noSuchColumn", sentence: "tokn"),
    Mistake(
      what: "an unknown platform column", instead: ["--platform-column": "os"], code: "noSuchColumn", sentence: "os"),
    Mistake(
      what: "an unknown column in the condition", add: ["--where", "lang = 'en'"], code: "noSuchColumn",
      sentence: "lang"),
    Mistake(
      what: "no usable key", instead: ["--table": "bare"],
      sql: "CREATE TABLE bare (token TEXT, platform TEXT)", code: "noUsableKey", sentence: "primary key"),
    Mistake(
      what: "a key that is not unique", add: ["--key-column", "platform"], code: "noUsableKey", sentence: "platform"),
    Mistake(
      what: "a token column that cannot be cleared", instead: ["--table": "strict"],
      sql: "CREATE TABLE strict (id INTEGER PRIMARY KEY, token TEXT NOT NULL, platform TEXT)",
      code: "tokenNotNullable", sentence: "NOT NULL"),
    Mistake(
      what: "deleteRow on a table that others reference", add: ["--policy", "deleteRow"],
      sql: "CREATE TABLE orders (id INTEGER PRIMARY KEY, device INTEGER REFERENCES devices (id))",
      code: "referencedRows", sentence: "orders"),
    Mistake(
      what: "a malformed condition", add: ["--where", "active = "], code: "invalidPredicate", sentence: "column 10"),
    Mistake(
      what: "an unknown policy", add: ["--policy", "delete"], code: "usage",
      sentence: "--policy is one of clearColumn, deleteRow, none, not 'delete'"),
    Mistake(
      what: "a reserved data key", add: ["--data", "from=me"], code: "message", sentence: "reserved by FCM"),
    Mistake(
      what: "an oversized message", add: ["--data", "x=" + String(repeating: "y", count: 5000)], code: "message",
      sentence: "4096"),
    Mistake(
      what: "a collapse key that is too long", add: ["--collapse-key", String(repeating: "k", count: 65)],
      code: "message", sentence: "65 bytes"),
    Mistake(
      what: "a time to live beyond 28 days", add: ["--ttl", "2419201"], code: "usage",
      sentence: "--ttl wants a whole number, 0 to 2419200, not '2419201'"),
    Mistake(
      what: "a forgotten value", add: ["--idempotency-key"], code: "usage",
      sentence: "--idempotency-key wants a value, and --json is an option"),
    Mistake(
      what: "a misspelt option", add: ["--polcy", "none"], code: "usage",
      sentence: "there is no option --polcy; did you mean --policy?"),
    Mistake(
      what: "a condition without quotes", add: ["--where", "active", "=", "1"], code: "usage",
      sentence: "'=' is one word too many; a value with spaces wants quotes"),
    Mistake(
      what: "data without a value", add: ["--data", "issue"], code: "usage",
      sentence: "--data wants KEY=VALUE, not 'issue'"),
    Mistake(
      what: "two sources of the platform", add: ["--platform", "ios"], code: "usage",
      sentence: "give --platform-column or --platform, not both"),
    Mistake(
      what: "waiting for what is not sent", add: ["--dry-run", "--wait"], code: "usage", sentence: "--dry-run"),
    Mistake(
      what: "a store of an unknown kind", instead: ["--store": "oracle://root:secret@db/app"], code: "usage",
      sentence: "--store names a store of the kind 'oracle', which is not known; write sqlite:FILE, postgres:"),
    Mistake(
      what: "a store without a kind", instead: ["--store": "app.db"], code: "usage", sentence: "sqlite:app.db"),
    Mistake(
      what: "a store that is not migrated", sql: "DROP TABLE zonai_meta", code: "notMigrated", sentence: "zonai migrate"
    ),
    Mistake(
      what: "a store from a newer version", sql: "UPDATE zonai_meta SET version = version + 1", code: "schemaVersion",
      sentence: "newer"),
    Mistake(
      what: "a configuration that is not there", add: ["--config", "/nowhere/zonai.json"], code: "configuration",
      sentence: "cannot read the configuration file /nowhere/zonai.json: No such file or directory"),
  ]

  @Test(arguments: mistakes)
  func `a mistake is one sentence, exit code 2, and nothing written`(_ mistake: Mistake) async throws {
    let scene = try await Scene(devices: 2)
    if !mistake.sql.isEmpty { try scene.database.run(mistake.sql) }
    var words = scene.pushWords
    for (option, value) in mistake.instead {
      let index = try #require(words.firstIndex(of: option))
      words[index + 1] = value
    }
    let before = try scene.folder.bytes("app.db")
    let ending = try await Shell.run(words + mistake.add + ["--json"])
    #expect(ending.code == 2)
    #expect(ending.output.isEmpty)
    #expect(ending.failure.code == mistake.code)
    #expect(ending.failure.message?.contains(mistake.sentence) == true, "\(ending.errors)")
    #expect(!ending.errors.contains("secret"))
    #expect(try scene.folder.bytes("app.db") == before)
  }

  @Test(arguments: mistakes.prefix(3))
  func `as text it is one line that begins with the command's name`(_ mistake: Mistake) async throws {
    let scene = try await Scene(devices: 2)
    var words = scene.pushWords
    for (option, value) in mistake.instead {
      let index = try #require(words.firstIndex(of: option))
      words[index + 1] = value
    }
    let ending = try await Shell.run(words)
    #expect(ending.errors.split(separator: "\n").count == 1)
    #expect(ending.errors.hasPrefix("zonai: "))
  }

  @Test(arguments: [
    (#"{"android":{"notification":{"clickAction":"A","click_action":"B"}}}"#, "'clickAction' and 'click_action'"),
    (#"{"apns":{"headers":{"APNs-Priority":"5","apns-priority":"10"}}}"#, "'APNs-Priority' and 'apns-priority'"),
  ])
  func `an override with one field in two spellings is refused before anything is written`(
    _ override: String, _ both: String
  ) async throws {
    let scene = try await Scene(devices: 2)
    let file = try scene.folder.write("message.json", #"{"title":"Hello","fcmOverride":\#(override)}"#)
    var words = scene.pushWords
    for name in ["--title", "--body"] {
      let place = try #require(words.firstIndex(of: name))
      words.removeSubrange(place...place + 1)
    }
    for more in [[], ["--dry-run"]] {
      let ending = try await Shell.run(words + ["--message", file, "--json"] + more)
      #expect(ending.code == 2)
      #expect(ending.failure.code == "message")
      #expect(ending.failure.message?.contains(both) == true, "\(ending.errors)")
    }
    #expect(try scene.jobs == 0)
  }

  // MARK: Keys and configurations

  @Test(arguments: [
    (#"{"fcm":"#, "is not JSON: line 1"),
    (#"{"fcm":{"serviceAccount":"service-account.json"},"batchsize":5}"#, "there is no field 'batchsize'"),
    (#"{"fcm":{"serviceAccount":"ca.pem"}}"#, "fcm.serviceAccount"),
    (#"{"fcm":{"serviceAccount":"missing.json"}}"#, "missing.json"),
    (
      #"{"apns":{"keyFile":"service-account.json","keyId":"ABCDEFGHIJ","teamId":"ABCDEFGHIJ","bundleId":"a.b"}}"#,
      "apns.keyFile"
    ),
  ])
  func `a configuration or key that cannot be used is refused`(text: String, sentence: String) async throws {
    let scene = try await Scene(devices: 2)
    // Beside the simulator's keys, under a name of its own.
    let name = scene.folder.path.split(separator: "/").last ?? "other"
    let file = try Folder.write("\(scene.simulator.directory)/\(name).json", text)
    let ending = try await scene.push("--config", file, "--json")
    #expect(ending.code == 2)
    #expect(ending.failure.code == "configuration")
    #expect(ending.failure.message?.contains(sentence) == true, "\(ending.errors)")
    #expect(!ending.errors.contains("PRIVATE"))
    #expect(try scene.jobs == 0)
  }

  @Test func `a key that others may read is warned of, and used`() async throws {
    let scene = try await Scene(devices: 2, ownSimulator: true)
    scene.folder.setMode("simulator/service-account.json", 0o644)
    let ending = try await scene.push("--dry-run")
    #expect(ending.code == 0)
    #expect(ending.errors.contains("warning: fcm.serviceAccount"))
    #expect(ending.errors.contains("chmod 600"))
  }

  // MARK: What is not there

  @Test func `a simulator that is gone is named before anything is written`() async throws {
    let scene = try await Scene(devices: 2, ownSimulator: true)
    let file = try scene.folder.read("simulator/simulator.json")
    await scene.simulator.stop()
    let never = try await scene.push("--json")
    #expect(never.code == 1)
    #expect(never.failure.code == "unavailable")
    #expect(never.failure.message?.contains("zonai simulate --dir") == true)
    // It was killed, so its file is still there.
    _ = try scene.folder.write("simulator/simulator.json", file)
    let killed = try await scene.push("--json")
    #expect(killed.code == 1)
    #expect(killed.failure.message?.contains("does not answer") == true)
    #expect(try scene.jobs == 0)
  }

  @Test func `a store that does not exist is not created`() async throws {
    let scene = try await Scene(devices: 2)
    let missing = scene.folder["missing.db"]
    for words in [
      ["migrate", "--store", "sqlite:\(missing)"], ["jobs", "list", "--store", "sqlite:\(missing)"],
      scene.pushWords.map { $0 == scene.store ? "sqlite:\(missing)" : $0 },
      scene.workWords.map { $0 == scene.store ? "sqlite:\(missing)" : $0 } + ["--once"],
    ] {
      let ending = try await Shell.run(words + ["--json"])
      #expect(ending.code == 2)
      #expect(ending.failure.code == "notFound")
      #expect(ending.failure.message?.contains("missing.db") == true)
      #expect(!scene.folder.has("missing.db"))
    }
  }

  @Test func `a file that is no database is named`() async throws {
    let folder = try Folder()
    let path = try folder.write("notes.txt", String(repeating: "not a database\n", count: 100))
    let ending = try await Shell.run("migrate", "--store", "sqlite:\(path)", "--json")
    #expect(ending.code == 1)
    #expect(ending.failure.message?.contains("notes.txt") == true)
  }

  @Test func `the same idempotency key with other content is refused`() async throws {
    let scene = try await Scene(devices: 2)
    let first = try await scene.push("--idempotency-key", "a", "--json")
    let again = try await scene.push("--idempotency-key", "a", "--json")
    #expect(first.code == 0)
    #expect(try first.json["id"] == again.json["id"])
    let other = try await scene.push("--idempotency-key", "a", "--ttl", "60", "--json")
    #expect(other.code == 2)
    #expect(other.failure.code == "idempotencyClash")
    #expect(try scene.jobs == 1)
  }
}
