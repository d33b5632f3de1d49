import ZonaiCore
import ZonaiJSON

extension Audience {
  static let fields = ["table", "schema", "key", "token", "platform", "lastSeen", "where"]

  init(_ fields: FieldReader) throws(FieldFault) {
    let written = try fields.required("table", "the table that holds the tokens")
    let schema = try fields.string("schema")
    // Beside a schema the name is taken as it is.
    let table = schema.map { TableName(written, schema: $0) } ?? TableName(written: written)
    guard let table else {
      throw fields.problem(
        "'audience.table' is a table's name, with its schema before a dot or without; a name that holds a dot or a quote stands in double quotes"
      )
    }
    self.init(
      table, key: try fields.list("key"),
      token: try fields.required("token", "the column with the device token"),
      platform: try PlatformSource(fields), lastSeen: try fields.string("lastSeen"),
      where: try Audience.predicate(fields))
  }

  /// A condition as people write it, or as a list, which nothing that stands in a value can change.
  private static func predicate(_ fields: FieldReader) throws(FieldFault) -> Predicate? {
    switch fields.members["where"] ?? .null {
    case .null: return nil
    case .string(let text):
      do throws(PredicateFault) { return try PredicateParser.parse(text) } catch {
        let place = error.line > 1 ? "line \(error.line), column \(error.column)" : "column \(error.column)"
        throw fields.problem("'audience.where', \(place): \(error.sentence)")
      }
    case .array(let list):
      let predicate: Predicate
      do throws(StoreError) { predicate = try Predicate(json: .array(list)) } catch {
        throw fields.problem("'audience.where' is no condition: \(error.databaseWords ?? error.sentence)")
      }
      guard let flat = predicate.flattened else {
        throw fields.problem(
          "'audience.where' nests and, or and not more than \(Predicate.depthLimit) deep: write it flatter")
      }
      return flat
    default: throw fields.wrong("where", #"a condition, as text or as a list like ["=", "active", true]"#)
    }
  }

  /// As it is read again; `condition` says how the predicate is written.
  package func json(where condition: (Predicate) -> JSON) -> JSON {
    var members: [String: JSON] = [
      "table": .string(table.schema == nil ? table.written : table.name), "token": .string(token),
    ]
    members["schema"] = table.schema.map(JSON.string)
    if !key.isEmpty { members["key"] = .array(key.map(JSON.string)) }
    switch platform {
    case .unknown: break
    case .column(let name): members["platform"] = ["column": .string(name)]
    case .fixed(let platform): members["platform"] = ["name": .string(platform.name)]
    }
    members["lastSeen"] = lastSeen.map(JSON.string)
    members["where"] = predicate.map(condition)
    return .object(members)
  }
}

extension Audience.PlatformSource {
  fileprivate init(_ fields: FieldReader) throws(FieldFault) {
    guard let source = try fields.object("platform", fields: ["column", "name"]) else {
      self = .unknown
      return
    }
    switch (try source.string("column"), try source.string("name")) {
    case (let column?, nil): self = .column(column)
    case (nil, let name?): self = .fixed(Platform(name))
    case (nil, nil):
      throw source.missing("column", #"the column with the platform; or "name", the platform of every row"#)
    case (_?, _?): throw source.problem("'audience.platform' names both 'column' and 'name'; keep one")
    }
  }
}
