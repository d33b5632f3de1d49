import ZonaiJSON

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The command as a whole: finds the word, reads its options, runs it, and turns what was thrown into a sentence.
public enum ZonaiCommand {
  static let commands: [any Command.Type] = [
    MigrateCommand.self, PushCommand.self, WorkCommand.self, JobsCommand.self, WorkersCommand.self,
    AppsCommand.self, ClassifyCommand.self, SimulateCommand.self, DemoCommand.self,
  ]

  /// Runs a command line and ends the process. Call it before any thread is started.
  ///
  /// The first word is the program's name; nil stands for an argument that is not UTF-8.
  public static func main(_ words: [String?]) -> Never {
    StandardDescriptors.fill()
    CommandLineMemory.hidePasswords()
    Interruption.block()
    let words = Array(words.dropFirst())
    let console = Console(isJSON: wantsJSON(words.compactMap { $0 }))
    let interruption = Interruption()
    Task {
      let code = await end(words, Context(console: console, interruption: interruption))
      // Results are written by now, without a buffer. `exit` would run the libraries' own clean-up (OpenSSL's among it) beside
      // threads that are still using them.
      // https://docs.openssl.org/3.0/man3/OPENSSL_init_crypto/
      _exit((code == .done && !console.deliveredResults ? .failed : code).rawValue)
    }
    interruption.wait()
  }

  /// Whether errors are wanted as JSON, which must be known before the options are understood.
  private static func wantsJSON(_ words: [String]) -> Bool {
    let command = words.first.flatMap { word in commands.first { $0.name == word } }
    return words.prefix { $0 != "--" }.contains(Shared.json.name)
      || Arguments.options(in: words, command?.options ?? OptionList()).contains(Shared.json.name)
  }

  private static func end(_ words: [String?], _ context: Context) async -> ExitCode {
    do {
      let readable = try words.enumerated().map { index, word in
        guard let word else {
          throw CommandFailure.usage(
            "argument \(index + 1) is not UTF-8 text, so nothing was done; check the terminal's or the script's encoding"
          )
        }
        return word
      }
      return try await run(readable, context)
    } catch {
      let failure = CommandFailure(anything: error)
      context.console.failure(failure)
      return failure.exitCode
    }
  }

  static func run(_ words: some Collection<String>, _ context: Context) async throws -> ExitCode {
    guard let word = words.first else {
      context.console.note(Help.overview(commands))
      return .refused
    }
    switch word {
    case "--help", "-h", "help":
      context.console.result(try help(words.dropFirst().first))
      return .done
    case "--version", "version":
      context.console.result(Help.version)
      return .done
    default: break
    }
    let command = try find(word)
    let options = Arguments.options(in: words.dropFirst(), command.options)
    if options.contains(Shared.help.name) || options.contains(Shared.shortHelp) {
      context.console.result(Help.text(command))
      return .done
    }
    return try await start(command, words.dropFirst(), context)
  }

  private static func start(
    _ command: (some Command).Type, _ words: some Collection<String>, _ context: Context
  ) async throws -> ExitCode {
    do {
      return try await command.init(Arguments(words, options: command.options)).run(context)
    } catch let failure as CommandFailure where failure.code == "usage" && !context.console.isJSON {
      throw CommandFailure(
        failure.code, failure.sentence + "\nzonai: 'zonai \(command.name) --help' shows how", exitCode: .refused)
    }
  }

  private static func help(_ word: String?) throws -> String {
    guard let word else { return Help.overview(commands) }
    return Help.text(try find(word))
  }

  private static func find(_ word: String) throws(CommandFailure) -> any Command.Type {
    if let command = commands.first(where: { $0.name == word }) { return command }
    let isOption = word.hasPrefix("-")
    throw .usage(
      isOption
        ? "a command comes first, then its options; there is none before \(word)"
        : "there is no command '\(word)'\(Nearest.hint(word, in: commands.map { $0.name })); 'zonai --help' lists them")
  }
}
