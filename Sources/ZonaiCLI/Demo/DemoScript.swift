import Synchronization

/// What the demonstration says and checks: numbered steps, the command that would do each, and what was expected.
final class DemoScript: Sendable {
  private let console: Console
  private let state = Mutex(State())

  private struct State {
    var step = 0
    var checks = 0
    var surprises: [String] = []
  }

  init(_ console: Console) { self.console = console }

  func say(_ text: String) { console.result(text) }

  /// A step, with the commands that do the same by hand.
  func step(_ title: String, _ commands: [String]...) {
    let number = state.withLock { state in
      state.step += 1
      return state.step
    }
    console.result("\n\(number). \(title)")
    for command in commands { console.result("   $ " + ShellLine.text(command, width: 100, indentation: "       ")) }
  }

  func detail(_ text: String) { console.result("   \(text)") }

  /// Notes whether something came as it should have.
  func expect(_ what: String, _ holds: Bool) {
    state.withLock { state in
      state.checks += 1
      if !holds { state.surprises.append(what) }
    }
  }

  /// Whether everything came as it should have; says so.
  func verdict() -> Bool {
    let (checks, surprises) = state.withLock { ($0.checks, $0.surprises) }
    if surprises.isEmpty {
      console.result("\nChecked \(checks) counts and rows: all as expected.")
      return true
    }
    for surprise in surprises { console.result("\nNOT as expected: \(surprise)") }
    return false
  }
}
