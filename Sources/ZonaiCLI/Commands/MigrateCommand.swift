import ZonaiCore
import ZonaiJSON

/// `zonai migrate`: creates or upgrades Zonai's own tables beside the application's.
struct MigrateCommand: Command {
  static let name = "migrate"
  static let summary = "create or upgrade Zonai's own tables in your database"
  static let usage = "--store URL [--json]"

  static let options: OptionList = {
    var list = OptionList()
    StoreOptions.add(to: &list)
    list.add(Shared.json)
    list.add(Shared.help)
    return list
  }()

  static let notes = """
    Their names begin with zonai_; your own tables are not touched. The database must be there already. Running it again changes
    nothing.

      zonai migrate --store sqlite:app.db
    """

  private let address: StoreAddress

  init(_ arguments: Arguments) throws(CommandFailure) {
    try arguments.noOperands()
    address = try arguments.store()
  }

  func run(_ context: Context) async throws -> ExitCode {
    let migration = try await address.open(context.console).migrate()
    let (from, to) = (migration.from, migration.to)
    for note in migration.notes { context.console.note(note) }
    if context.console.isJSON {
      context.console.result(["from": .integer(Int64(from)), "to": .integer(Int64(to))])
    } else if from == to {
      context.console.result("Zonai's tables are there already, at version \(to).")
    } else if from == 0 {
      context.console.result("Created Zonai's tables, at version \(to).")
    } else {
      context.console.result("Upgraded Zonai's tables from version \(from) to \(to).")
    }
    return .done
  }
}
