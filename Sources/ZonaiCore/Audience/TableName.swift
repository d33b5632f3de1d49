/// A table's name, with its schema where the database has schemas and the table is not in the default one.
public struct TableName: Sendable, Hashable, Codable, ExpressibleByStringLiteral, CustomStringConvertible {
  public var schema: String?
  public var name: String

  public init(_ name: String, schema: String? = nil) {
    self.name = name
    self.schema = schema
  }
  public init(stringLiteral value: String) { self.init(value) }

  public var description: String { schema.map { "\($0).\(name)" } ?? name }
}
