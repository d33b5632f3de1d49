import ZonaiCore
import ZonaiSimulator
import ZonaiTransports

/// Why a command ends without having done what was asked: a code to branch on, a sentence to read, an exit code.
struct CommandFailure: Error, Sendable, Equatable {
  var code: String
  var sentence: String
  var exitCode: ExitCode

  init(_ code: String, _ sentence: String, exitCode: ExitCode) {
    self.code = code
    self.sentence = sentence
    self.exitCode = exitCode
  }

  /// The command line makes no sense.
  static func usage(_ sentence: String) -> CommandFailure { CommandFailure("usage", sentence, exitCode: .refused) }

  /// The configuration file, or a key that it names, cannot be used.
  static func configuration(_ sentence: String) -> CommandFailure {
    CommandFailure("configuration", sentence, exitCode: .refused)
  }

  static func message(_ fault: MessageFault) -> CommandFailure {
    CommandFailure("message", fault.sentence, exitCode: .refused)
  }

  /// Something outside did not answer, or refused.
  static func unavailable(_ sentence: String) -> CommandFailure {
    CommandFailure("unavailable", sentence, exitCode: .failed)
  }
}

extension CommandFailure {
  init(_ error: StoreError) {
    var sentence = error.sentence
    if let words = error.databaseWords, !sentence.contains(words) { sentence += " (\(words))" }
    self.init(error.code.rawValue, sentence, exitCode: error.wasFoundBeforeWriting ? .refused : .failed)
  }

  init(_ error: ZonaiError) {
    let isOurs = error.code == .hooksStuck || error.code == .noThread || error.code == .unservable
    self.init(error.code.rawValue, error.sentence, exitCode: isOurs ? .failed : .refused)
  }

  init(_ error: SetupError) {
    let isOurs = error.code == .outOfResources
    self.init("configuration", error.description, exitCode: isOurs ? .failed : .refused)
  }

  init(_ error: SimulatorError) {
    let isMistake = [.foreignFile, .inUse, .option].contains(error.code)
    self.init("simulator", error.description, exitCode: isMistake ? .refused : .failed)
  }

  /// Whatever was thrown, as a failure of the command.
  init(anything error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as StoreError: self.init(error)
    case let error as ZonaiError: self.init(error)
    case let error as SetupError: self.init(error)
    case let error as SimulatorError: self.init(error)
    case let fault as MessageFault: self = .message(fault)
    case let failure as JobFailure: self.init(failure.code.rawValue, failure.detail, exitCode: .failed)
    default: self.init("failed", "\(error)", exitCode: .failed)
    }
  }
}

/// How the process ends.
enum ExitCode: Int32, Sendable {
  case done = 0
  /// Unreachable, read-only, full, interrupted, or a job that ended otherwise than completed.
  case failed = 1
  /// Found before anything was written.
  case refused = 2
}
