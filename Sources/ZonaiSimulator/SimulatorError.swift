/// Why the simulator does not run.
public struct SimulatorError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable, Hashable {
    /// The folder or a file in it cannot be written.
    case folder
    /// A file is there that the simulator did not write.
    case foreignFile
    /// Another simulator uses the folder.
    case inUse
    /// OpenSSL made no key.
    case keys
    /// An option cannot be, such as a bundle id with a space.
    case option
    /// The control refused a request.
    case request
    /// The simulator was stopped.
    case stopped
  }

  public var code: Code
  public var description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
