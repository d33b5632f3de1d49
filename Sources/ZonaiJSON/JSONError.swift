/// Why bytes are not the JSON that was asked for, and where: `line 3, column 14: a comma or '}' is expected here`.
///
/// It shows names and places, never values, so that a configuration's secrets stay out of logs.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong, to branch on.
  public enum Code: Sendable, Hashable {
    /// There is nothing but white space.
    case empty
    /// The text breaks the grammar.
    case syntax
    /// The bytes are not UTF-8.
    case invalidUTF8
    /// Lists and objects lie deeper in one another than the limit allows.
    case tooDeep
    /// An object has two members of one name.
    case duplicateKey
    /// A number is too large for floating point.
    case numberOutOfRange
  }

  public var code: Code
  /// How many bytes lie before the place.
  public var offset: Int
  /// The line, from 1.
  public var line: Int
  /// The column in bytes, from 1.
  public var column: Int
  /// What is wrong there, in words, without the place.
  public var problem: String

  public var description: String { "line \(line), column \(column): \(problem)" }

  init(_ code: Code, _ problem: String, at offset: Int, in bytes: UnsafeBufferPointer<UInt8>) {
    self.code = code
    self.problem = problem
    self.offset = offset
    let before = bytes[..<min(offset, bytes.count)]
    line = 1 + before.count { $0 == UInt8(ascii: "\n") }
    column = before.count - ((before.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1) + 1
  }
}
