import ZonaiCore
import ZonaiJSON

/// `zonai workers`: who works, on what, and how fast.
struct WorkersCommand: Command {
  static let name = "workers"
  static let summary = "list the workers: who is alive, on which jobs, how fast"
  static let usage = "--store URL [--app NAME] [--json]"

  private static let app = AppOption.option("only workers of this app; '' is the default one")

  static let options: OptionList = {
    var list = OptionList()
    StoreOptions.add(to: &list)
    list.add(app)
    list.add(Shared.json)
    list.add(Shared.help)
    return list
  }()

  static let notes = """
    A worker tells of itself when it starts, with every third of its lease, and when it ends. One that was not heard of for a whole
    lease is shown as lost; its batches are taken over by the others. After a day it is forgotten.

      zonai workers --store sqlite:app.db
    """

  private let address: StoreAddress
  private let app: AppName?

  init(_ arguments: Arguments) throws(CommandFailure) {
    try arguments.noOperands()
    address = try arguments.store()
    app = try arguments.value(Self.app)
  }

  func run(_ context: Context) async throws -> ExitCode {
    let console = context.console
    let workers = try await Zonai(store: try address.open(console)).workers()
      .filter { (app ?? $0.app) == $0.app }
    if console.isJSON {
      console.result(["workers": .array(workers.map { WorkerLine($0).json })])
      return .done
    }
    if workers.isEmpty { console.note("no workers\(app.map { " of \($0)" } ?? ""); start one with 'zonai work'") }
    for worker in workers { console.result(WorkerLine(worker).text) }
    return .done
  }
}
