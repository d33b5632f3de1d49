/// One thing that every implementation must do, as a value: `try await check(fixture)`.
public struct Check<Fixture: Sendable>: Sendable, CustomStringConvertible {
  /// A sentence that is true of a sound implementation.
  public let name: String
  /// Where the contract says so.
  public let law: String
  private let body: @Sendable (Fixture) async throws -> Void

  public init(_ name: String, law: String, body: @escaping @Sendable (Fixture) async throws -> Void) {
    self.name = name
    self.law = law
    self.body = body
  }

  /// Runs the check against a fresh fixture. Throws a `CheckFailure` that says what was expected and what was found.
  public func callAsFunction(_ fixture: Fixture) async throws {
    do {
      try await body(fixture)
    } catch var failure as CheckFailure {
      failure.check = name
      failure.law = law
      throw failure
    }
  }

  public var description: String { name }
}

/// A check that did not hold.
public struct CheckFailure: Error, Sendable, CustomStringConvertible {
  public var check = ""
  public var law = ""
  public var expected: String
  public var found: String
  /// The line of the suite that noticed.
  public var place: String

  public init(expected: String, found: String, file: StaticString = #fileID, line: UInt = #line) {
    self.expected = expected
    self.found = found
    place = "\(file):\(line)"
  }

  public var description: String { "\(check) (\(law)): expected \(expected), found \(found) [\(place)]" }
}

/// Compares what was found with what was expected.
func expect<Subject: Equatable>(
  _ found: Subject, is expected: Subject, _ what: String, file: StaticString = #fileID, line: UInt = #line
) throws {
  guard found != expected else { return }
  throw CheckFailure(expected: "\(what): \(expected)", found: "\(found)", file: file, line: line)
}

/// Expects something to be true.
func expect(
  _ isTrue: Bool, _ expected: String, found: @autoclosure () -> String = "otherwise", file: StaticString = #fileID,
  line: UInt = #line
) throws {
  guard !isTrue else { return }
  throw CheckFailure(expected: expected, found: found(), file: file, line: line)
}
