/// A table's name, with its schema where the database has schemas and the table is not in the default one.
public struct TableName: Sendable, Hashable, Codable, ExpressibleByStringLiteral, CustomStringConvertible {
  public var schema: String?
  public var name: String

  public init(_ name: String, schema: String? = nil) {
    self.name = name
    self.schema = schema
  }
  /// As people write it: `users`, `app.users`, and in double quotes what holds a dot or a quote
  /// (`app."odd.name"`). nil when it has another form.
  public init?(written text: String) {
    var parts: [String] = [""]
    var isQuoted = false
    var isAfterQuote = false
    for scalar in text.unicodeScalars {
      switch (scalar, isQuoted) {
      case ("\"", true):
        isQuoted = false
        isAfterQuote = true
      case ("\"", false):
        // A doubled quote is one of the name.
        if isAfterQuote { parts[parts.count - 1].append("\"") } else if parts[parts.count - 1] != "" { return nil }
        isQuoted = true
        isAfterQuote = false
      case (".", false):
        parts.append("")
        isAfterQuote = false
      case (_, false) where isAfterQuote: return nil
      default: parts[parts.count - 1].unicodeScalars.append(scalar)
      }
    }
    guard !isQuoted, parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
    self.init(parts[parts.count - 1], schema: parts.count == 2 ? parts[0] : nil)
  }

  /// The form that `init(written:)` reads.
  public var written: String { [schema, name].compactMap { $0 }.map(Self.quotedIfNeeded).joined(separator: ".") }

  private static func quotedIfNeeded(_ name: String) -> String {
    guard name.isEmpty || name.contains(where: { $0 == "." || $0 == "\"" }) else { return name }
    return "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }

  public init(stringLiteral value: String) { self.init(value) }

  public var description: String { schema.map { "\($0).\(name)" } ?? name }
}
