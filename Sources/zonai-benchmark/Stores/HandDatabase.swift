/// A connection as somebody would use it who types the statements into the client library.
protocol HandDatabase: AnyObject {
  associatedtype Statement

  init(_ place: String) throws
  func prepare(_ text: String) throws -> Statement
  /// One statement or several, without values or rows.
  func execute(_ text: String) throws
  /// Runs a prepared statement, copies every value of every row, and gives the first of them as a number.
  @discardableResult func run(_ statement: Statement, _ values: [HandValue]) throws -> Int64
  /// Reads rows of a key and a token.
  func read(_ statement: Statement, _ values: [HandValue], into page: inout HandPage) throws
}

enum HandValue {
  case integer(Int64)
  case text(String)
  case bytes([UInt8])
}

/// A page's keys and tokens, each in one array that is used again.
struct HandPage {
  var keys: [Int64] = []
  var tokens: [UInt8] = []
  var ends: [Int] = []

  var count: Int { keys.count }

  func token(_ index: Int) -> ArraySlice<UInt8> { tokens[(index == 0 ? 0 : ends[index - 1])..<ends[index]] }

  mutating func clear() {
    keys.removeAll(keepingCapacity: true)
    tokens.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }
}

struct HandFailure: Error, CustomStringConvertible { let description: String }
