/// One word after `zonai`, with its options.
protocol Command: Sendable {
  static var name: String { get }
  /// One line, for the list of commands.
  static var summary: String { get }
  /// What comes after the name: `fcm|apns --status N`.
  static var usage: String { get }
  static var options: OptionList { get }
  /// What the options do not say, and an example that works.
  static var notes: String { get }

  /// Reads what was given, before anything happens.
  init(_ arguments: Arguments) throws(CommandFailure)
  func run(_ context: Context) async throws -> ExitCode
}

/// What a running command may use.
struct Context: Sendable {
  let console: Console
  let interruption: Interruption
}

/// Options that several commands share.
enum Shared {
  static let json = Flag("--json", "print one JSON object instead of text; errors as JSON on standard error")
  static let help = Flag("--help", "show this and do nothing")
  /// Another name of `--help`.
  static let shortHelp = "-h"
}
