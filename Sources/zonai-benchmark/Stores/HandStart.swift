/// Picks the database's words and functions.
enum HandStart {
  static func run(_ options: StoreOptions) async throws -> StepMeter {
    let store = try Stores.open(options)
    let job = try await Stores.enqueue(in: store).id.rawValue
    switch options.database {
    case .sqlite: return try measure(HandSQLite.self, HandSQLiteWords(), options, job)
    case .postgres: return try measure(HandPostgres.self, HandPostgresWords(), options, job)
    case .mysql: return try measure(HandMySQL.self, HandMySQLWords(), options, job)
    }
  }

  private static func measure<Database: HandDatabase>(
    _ database: Database.Type, _ words: some HandWords, _ options: StoreOptions, _ job: String
  ) throws -> StepMeter {
    var run = try HandRun<Database>(options, words: words, job: job)
    return try run.run()
  }
}
