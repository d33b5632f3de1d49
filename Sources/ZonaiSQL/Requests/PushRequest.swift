import ZonaiCore
import ZonaiJSON

/// A push as the SQL of other programs writes it: one JSON document. docs/enqueue-from-sql.md describes it.
///
/// Written once, it is read by every later version: members may be added, none changes its meaning.
struct PushRequest: Sendable, Hashable {
  var app: AppName
  var definition: JobDefinition
  var deletesReferencedRows: Bool

  init(app: AppName = .standard, _ definition: JobDefinition, deletesReferencedRows: Bool) {
    self.app = app
    self.definition = definition
    self.deletesReferencedRows = deletesReferencedRows
  }

  init(parsing text: String?) throws(FieldFault) {
    guard let text else {
      throw FieldFault(sentence: "the request is missing: give a JSON document in the column request")
    }
    let json: JSON
    do throws(JSONError) { json = try JSON(parsing: text) } catch {
      throw FieldFault(sentence: "the request is not JSON: \(error)")
    }
    try self.init(json)
  }

  private static let fields = [
    "app", "message", "audience", "policy", "routes", "attribution", "deletesReferencedRows",
  ]

  private init(_ json: JSON) throws(FieldFault) {
    if json["idempotencyKey"] != nil || json["idempotency_key"] != nil {
      throw FieldFault(
        sentence:
          "the request: the idempotency key stands beside the request, in the column or argument idempotency_key")
    }
    let fields = try FieldReader(json, document: "the request", fields: Self.fields)
    guard let message = try fields.object("message", fields: PushMessage.fields) else {
      throw fields.missing("message", #"what is sent: {"title": "Hello", "body": "The new issue is out"}"#)
    }
    guard let audience = try fields.object("audience", fields: Audience.fields) else {
      throw fields.missing("audience", #"whom it goes to: {"table": "users", "token": "push_token"}"#)
    }
    app = AppName(rawValue: try fields.string("app") ?? "")
    if let problem = app.problem { throw fields.problem("'app': \(problem)") }
    let recipients = try Audience(audience)
    definition = JobDefinition(
      message: try PushMessage(message), audience: recipients,
      policy: try fields.word("policy", Policy.allCases) ?? .clearColumn,
      routes: try Routes(fields.object("routes", fields: Routes.fields), for: recipients),
      attribution: try fields.texts("attribution"))
    deletesReferencedRows = try fields.boolean("deletesReferencedRows") ?? false
    if definition.reachedTransports.isEmpty {
      throw fields.problem("'routes' sends nobody of the audience anywhere: name a transport, such as \"fcm\"")
    }
  }

  /// The document; equal requests give equal text, in every version, so that a repetition is known by it.
  var text: String {
    var members: [String: JSON] = [
      "message": definition.message.json, "audience": definition.audience.json(where: \.json),
      "policy": .string(definition.policy.rawValue), "routes": definition.routes.json,
    ]
    if app != .standard { members["app"] = .string(app.rawValue) }
    if !definition.attribution.isEmpty {
      members["attribution"] = .object(definition.attribution.mapValues(JSON.string))
    }
    if deletesReferencedRows { members["deletesReferencedRows"] = true }
    return JSON.object(members).text
  }
}
