import ZonaiCore

/// The options that say whom a message goes to.
enum AudienceOptions {
  static let table = Option(
    "--table", "TABLE", "the table that holds the tokens, with its schema or without: users, app.users")
  static let schema = Option("--schema", "SCHEMA", "its schema, where the database has schemas")
  static let tokenColumn = Option("--token-column", "COLUMN", "the column with the device token")
  static let keyColumn = Option(
    "--key-column", "COLUMN", "a column of the key that rows are told apart by; the default is the primary key",
    isRepeated: true)
  static let platformColumn = Option(
    "--platform-column", "COLUMN", "the column that says 'ios' or 'android'; it decides between APNs and FCM")
  static let platform = Option("--platform", "NAME", "the platform of every row, where there is no such column")
  static let lastSeenColumn = Option(
    "--last-seen-column", "COLUMN", "when the token was registered; spares a device that came back meanwhile")
  static let condition = Option(
    "--where", "CONDITION", "which rows: \"active = true and locale in ('en', 'fr')\"; without it, all")

  static func add(to options: inout OptionList) {
    options.add(table)
    options.add(schema)
    options.add(tokenColumn)
    options.add(keyColumn)
    options.add(platformColumn)
    options.add(platform)
    options.add(lastSeenColumn)
    options.add(condition)
  }

  private static func table(_ arguments: Arguments) throws(CommandFailure) -> TableName {
    let written = try arguments.required(table)
    // Beside --schema the name is taken as it is.
    if let schema = try arguments.value(schema) { return TableName(written, schema: schema) }
    if let name = TableName(written: written) { return name }
    throw .usage("--table takes TABLE or SCHEMA.TABLE; a name that holds a dot or a quote stands in double quotes")
  }

  static func audience(_ arguments: Arguments) throws(CommandFailure) -> Audience {
    var audience = Audience(
      try table(arguments),
      key: try arguments.values(keyColumn), token: try arguments.required(tokenColumn),
      lastSeen: try arguments.value(lastSeenColumn))
    switch (try arguments.value(platformColumn), try arguments.value(platform)) {
    case (let column?, nil): audience.platform = .column(column)
    case (nil, let name?): audience.platform = .fixed(Platform(name))
    case (nil, nil): audience.platform = .unknown
    case (_?, _?): throw .usage("give --platform-column or --platform, not both")
    }
    if let text = try arguments.value(condition) {
      do { audience.predicate = try PredicateParser.parse(text) } catch {
        throw CommandFailure("invalidPredicate", "--where: \(error)", exitCode: .refused)
      }
    }
    return audience
  }
}
