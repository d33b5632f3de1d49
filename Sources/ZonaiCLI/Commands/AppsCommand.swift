import ZonaiCore
import ZonaiJSON

/// `zonai apps`: which apps share the database, what they are bound to, and how that is changed.
struct AppsCommand: Command {
  enum Action: String, CaseIterable { case list, rebind }

  static let name = "apps"
  static let summary = "list the apps and what they are bound to, or bind one to another configuration"
  static let usage = "list|rebind [NAME] --store URL [--config FILE] [--json]"

  static let options: OptionList = {
    var list = OptionList()
    StoreOptions.add(to: &list)
    LaneOptions.add(to: &list)
    LaneOptions.addServers(to: &list)
    list.add(Shared.json)
    list.add(Shared.help)
    return list
  }()

  static let notes = """
    An app is bound to the Firebase project or Apple team, bundle id and environment of the first configuration that uses it.
    rebind binds it to the configuration of --config: its open jobs that go over a transport which changes are failed, and workers
    that run with another configuration end. Without NAME it is the file's app.

      zonai apps list --store sqlite:app.db
      zonai apps rebind shop --store sqlite:app.db --config new.json
    """

  private let address: StoreAddress
  private let rebinding: (app: AppName, lanes: LaneOptions)?

  init(_ arguments: Arguments) throws(CommandFailure) {
    let actions = Action.allCases.map(\.rawValue)
    guard let word = arguments.operands.first else {
      throw .usage("say what to do: \(actions.joined(separator: ", "))")
    }
    guard let action = Action(rawValue: word) else {
      throw .usage("unknown subcommand '\(word)'\(Nearest.hint(word, in: actions))")
    }
    address = try arguments.store()
    switch action {
    case .list:
      _ = try arguments.operands(named: ["the action"])
      rebinding = nil
    case .rebind:
      let lanes = try LaneOptions(arguments)
      var app = lanes.app
      if arguments.operands.count > 1 {
        let name = try arguments.operands(named: ["the action", "the app's NAME"])[1]
        do throws(ArgumentProblem) { app = try AppOption.parse(name) } catch { throw .usage("rebind \(error.clause)") }
      }
      rebinding = (app, lanes)
    }
  }

  func run(_ context: Context) async throws -> ExitCode {
    let console = context.console
    let store = try address.open(console)
    guard let rebinding else {
      show(try await Zonai(store: store).apps(), on: console)
      return .done
    }
    let transports = try await rebinding.lanes.open(console)
    return try await transports.whileOpen {
      let zonai = try Zonai(store: store, app: rebinding.app, transports: transports)
      show(try await zonai.rebind(), on: console)
      return .done
    }
  }

  private func show(_ apps: [AppAccount], on console: Console) {
    if console.isJSON {
      console.result(["apps": .array(apps.map { AppLine($0).json })])
      return
    }
    if apps.isEmpty { console.note("no apps yet; the first push or worker binds one") }
    for app in apps { console.result(AppLine(app).text) }
  }

  private func show(_ rebinding: Rebinding, on console: Console) {
    let app = rebinding.bindings.app
    if console.isJSON {
      console.result([
        "app": .string(app.rawValue), "failed_jobs": .integer(Int64(rebinding.failedJobs)),
        "changes": .array(
          rebinding.changes.map { ["from": .string("\($0.from)"), "to": .string("\($0.to)")] }),
      ])
      return
    }
    if rebinding.changes.isEmpty { console.result("\(app) is bound to this configuration already") }
    for change in rebinding.changes { console.result("\(app) is bound to \(change.to), no longer to \(change.from)") }
    if rebinding.failedJobs > 0 {
      let jobs = rebinding.failedJobs == 1 ? "1 open job was" : "\(rebinding.failedJobs) open jobs were"
      console.note("\(jobs) failed; 'zonai jobs resume ID --rebound' sends the rest as the new one")
    }
  }
}
