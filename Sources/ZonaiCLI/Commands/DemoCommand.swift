import ZonaiCore
import ZonaiSimulator
import ZonaiSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `zonai demo`: a real fan-out on this machine alone.
struct DemoCommand: Command {
  static let name = "demo"
  static let summary = "show everything at work, on this machine alone"
  static let usage = "[--dir DIR]"

  private static let directory = Option(
    "--dir", "DIR",
    "a folder that is not there yet, for what the demonstration leaves; the default is a new one in /tmp")

  static let options: OptionList = {
    var list = OptionList()
    list.add(directory)
    list.add(Shared.help)
    return list
  }()

  static let notes = """
    It takes some seconds, sends nothing to anybody outside, prints the command for each step, checks its own counts (exit 1 when one
    is wrong), and keeps its folder.
    """

  private let directory: String?

  init(_ arguments: Arguments) throws(CommandFailure) {
    try arguments.noOperands()
    directory = try arguments.value(Self.directory)
  }

  func run(_ context: Context) async throws -> ExitCode {
    let folder = try folder()
    try TextFile.write(DemoData.sql, to: "\(folder)/app.sql")
    let script = DemoScript(context.console)
    script.say("One message to two tables of devices, over FCM and APNs. The commands are as if typed in\n\(folder)")
    let demo = Demo(
      script: script, console: context.console, directory: folder,
      simulator: try await Simulator(directory: "\(folder)/simulator"),
      store: try SQLiteStore(path: "\(folder)/app.db"))
    do {
      try await play(demo)
    } catch {
      await demo.simulator.stop()
      throw error
    }
    await demo.simulator.stop()
    let isFine = script.verdict()
    script.say("Everything is kept in \(folder)")
    return isFine ? .done : .failed
  }

  private func play(_ demo: Demo) async throws {
    let before = try await demo.setTheScene()
    try await demo.letThingsHappen()
    try await demo.resume(try await demo.pushWithLapsedKey(before.devices))
    try await demo.pushToUsers()
    try await demo.showAfterwards(before)
  }

  private func folder() throws(CommandFailure) -> String {
    if let directory {
      guard mkdir(directory, 0o755) == 0 else {
        throw .usage(
          "--dir: cannot make \(directory): \(String(cString: strerror(errno))); name a folder that is not there yet")
      }
      return directory
    }
    let place = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(place)/zonai-demo-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CommandFailure(
        "demo", "cannot make a folder in \(place): \(String(cString: strerror(errno)))", exitCode: .failed)
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
