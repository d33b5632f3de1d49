import Testing
import ZonaiCore
import ZonaiJSON

@testable import ZonaiSQL

/// The document that SQL enqueues.
@Suite struct RequestTests {
  private static let least = #"{"message": {"title": "Hello"}, "audience": {"table": "users", "token": "push_token"}}"#

  @Test func `a message, a table and a token column are enough`() throws {
    let request = try PushRequest(parsing: Self.least)
    #expect(
      request.definition
        == JobDefinition(
          message: PushMessage(title: "Hello"), audience: Audience("users", token: "push_token"), policy: .clearColumn,
          routes: Routes(apple: nil, android: nil, unknown: .fcm)))
    #expect(!request.deletesReferencedRows)
  }

  @Test func `every field is read`() throws {
    let request = try PushRequest(
      parsing: """
        {"message": {"title": "t", "body": "b", "data": {"a": "1"}, "collapseKey": "c", "timeToLive": 60,
                     "priority": "high", "sound": "default", "badge": 2, "image": "https://example.com/i.png",
                     "thread": "th", "category": "ca", "isBackground": false, "pushType": "alert",
                     "fcmOverride": {"android": {}}, "apnsOverride": {"aps": {}}},
         "audience": {"table": "users", "schema": "app", "key": ["tenant", "id"], "token": "push_token",
                      "platform": {"column": "phone"}, "lastSeen": "seen_at", "where": "active = true and age > 3"},
         "policy": "deleteRow", "routes": {"apple": "fcm", "android": "fcm", "unknown": null, "others": {"Harmony": "hms"}},
         "attribution": {"campaign": "spring"}, "deletesReferencedRows": true}
        """)
    var routes = Routes(apple: .fcm, android: .fcm, unknown: nil)
    routes.others = ["harmony": TransportName(rawValue: "hms")]
    let message = PushMessage(
      title: "t", body: "b", data: ["a": "1"], collapseKey: "c", timeToLive: 60, priority: .high, sound: "default",
      badge: 2, image: "https://example.com/i.png", thread: "th", category: "ca", pushType: .alert,
      fcmOverride: #"{"android":{}}"#, apnsOverride: #"{"aps":{}}"#)
    let audience = Audience(
      TableName("users", schema: "app"), key: ["tenant", "id"], token: "push_token", platform: .column("phone"),
      lastSeen: "seen_at", where: Column("active") == true && Column("age") > 3)
    #expect(
      request.definition
        == JobDefinition(
          message: message, audience: audience, policy: .deleteRow, routes: routes, attribution: ["campaign": "spring"])
    )
    #expect(request.deletesReferencedRows)
    #expect(try PushRequest(parsing: request.text) == request)
  }

  @Test func `a condition may be a list, in which no value can be anything else`() throws {
    let list =
      #"["and", ["=", "city", "O'Hare\" or 1 = 1"], ["in", "id", [1, 2]], ["not", ["null", "seen"]], [">", "x", 0.5]]"#
    let request = try PushRequest(
      parsing: #"{"message": {"title": "t"}, "audience": {"table": "t", "token": "c", "where": \#(list)}}"#)
    let wanted = Predicate.and([
      .compare("city", .equal, "O'Hare\" or 1 = 1"), .isIn("id", [1, 2]), .not(.isNull("seen")),
      .compare("x", .greater, 0.5),
    ])
    #expect(request.definition.audience.predicate == wanted)
    #expect(try PushRequest(parsing: request.text) == request)
  }

  @Test(arguments: [
    ("{}", Routes(apple: nil, android: nil, unknown: .fcm)),
    (#"{"platform": {"column": "p"}}"#, Routes(apple: .apns, android: .fcm, unknown: .fcm)),
    (#"{"platform": {"name": "iOS"}}"#, Routes(apple: .apns, android: nil, unknown: nil)),
    (#"{"platform": {"name": "android"}}"#, Routes(apple: nil, android: .fcm, unknown: nil)),
    (#"{"platform": {"name": "windows"}}"#, Routes(apple: nil, android: nil, unknown: .fcm)),
  ])
  func `without routes a worker needs the lanes that the audience reaches`(_ audience: String, _ routes: Routes) throws
  {
    var members = try #require(try JSON(parsing: audience).object)
    members.merge(["table": "t", "token": "c"]) { $1 }
    let document = JSON.object(["message": ["title": "t"], "audience": .object(members)])
    #expect(try PushRequest(parsing: document.text).definition.routes == routes)
  }

  @Test func `what is null counts as left out`() throws {
    let request = try PushRequest(
      parsing: """
        {"message": {"title": "Hello", "body": null, "data": null},
         "audience": {"table": "users", "token": "push_token", "schema": null, "key": null, "platform": null, "where": null},
         "policy": null, "routes": null, "attribution": null, "deletesReferencedRows": null}
        """)
    #expect(request == (try PushRequest(parsing: Self.least)))
  }

  @Test func `the text of one request is always the same`() {
    let definition = JobDefinition(
      message: PushMessage(title: "é/", data: ["b": "1", "a": "2"]), audience: Audience("t", token: "c"), policy: .none,
      routes: Routes(apple: nil, android: nil, unknown: .fcm))
    #expect(
      PushRequest(definition, deletesReferencedRows: false).text
        == #"{"audience":{"table":"t","token":"c"},"message":{"data":{"a":"2","b":"1"},"title":"é/"},"policy":"none","#
        + #""routes":{"android":null,"apple":null,"unknown":"fcm"}}"#)
  }

  static let mistakes: [(document: String?, sentence: String)] = [
    (nil, "the request is missing: give a JSON document in the column request"),
    ("", "the request is not JSON: line 1, column 1: "),
    (#"{"message": }"#, "the request is not JSON: line 1, column 13: "),
    ("[]", "the request must be an object, and is a list"),
    (#"{"mesage": {}}"#, "the request: there is no field 'mesage'; did you mean message?"),
    ("{}", "the request: 'message' is missing: what is sent"),
    (#"{"message": "Hello"}"#, "the request: 'message' must be an object, and is text"),
    (#"{"message": {"titel": "x"}}"#, "the request: there is no field 'message.titel'; did you mean title?"),
    (
      #"{"message": {"data": {"n": 1}}, "audience": {"table": "t", "token": "c"}}"#,
      "'message.data.n' must be text, and is 1"
    ),
    (#"{"message": {}}"#, "the request: 'audience' is missing: whom it goes to"),
    (#"{"message": {}, "audience": {"token": "c"}}"#, "the request: 'audience.table' is missing"),
    (#"{"message": {}, "audience": {"table": "t"}}"#, "the request: 'audience.token' is missing"),
    (
      audience(#""key": [1]"#),
      "the request: 'audience.key' must be text that is not empty, or a list of such, and is a list"
    ),
    (audience(#""platform": "ios""#), "the request: 'audience.platform' must be an object, and is text"),
    (audience(#""platform": {}"#), "the request: 'audience.platform.column' is missing"),
    (audience(#""platform": {"column": "a", "name": "b"}"#), "names both 'column' and 'name'; keep one"),
    (audience(#""where": "a = ""#), "the request: 'audience.where', column 5: "),
    (audience(#""where": ["~", "a", 1]"#), "the request: 'audience.where' is no condition: nobody knows ~"),
    (audience(#""where": 5"#), "the request: 'audience.where' must be a condition"),
    (
      #"{"message": {}, "audience": {"table": "t", "token": "c"}, "policy": "delete"}"#,
      #"'policy' must be one of "clearColumn""#
    ),
    (routes(#"{"unknown": null}"#), "'routes' sends nobody of the audience anywhere"),
    (routes(#"{"apple": "apns", "unknown": "f cm"}"#), "'routes.unknown' must be a transport's name"),
    (routes(#"{"aple": "apns"}"#), "there is no field 'routes.aple'; did you mean apple?"),
    (#"{"idempotencyKey": "x"}"#, "the idempotency key stands beside the request"),
  ]

  private static func audience(_ member: String) -> String {
    #"{"message": {"title": "x"}, "audience": {"table": "t", "token": "c", \#(member)}}"#
  }

  private static func routes(_ routes: String) -> String {
    #"{"message": {"title": "x"}, "audience": {"table": "t", "token": "c"}, "routes": \#(routes)}"#
  }

  @Test(arguments: mistakes)
  func `a mistake is told with its place and what belongs there`(_ document: String?, _ sentence: String) {
    let fault = #expect(throws: FieldFault.self) { try PushRequest(parsing: document) }
    #expect(fault?.sentence.contains(sentence) == true, "\(fault?.sentence ?? "")")
    #expect(fault?.sentence.contains("\n") == false)
  }
}
