/// The texts behind `--help`.
enum Help {
  static let version = "zonai 0.1.0"

  static func overview(_ commands: [any Command.Type]) -> String {
    let width = (commands.map { $0.name.count }.max() ?? 0) + 2
    let list = commands.map { "  " + padded($0.name, width) + $0.summary }
    return """
      zonai sends one push message to every device that a query names, through FCM and APNs, and clears the tokens that
      turn out to be dead from your table.

      Usage: zonai COMMAND [OPTIONS]

      \(list.joined(separator: "\n"))

      'zonai COMMAND --help' tells more; 'zonai demo' shows everything at work, on this machine alone.
      Exit codes: 0 done; 2 refused before anything was written; 1 anything else.
      """
  }

  static func text(_ command: any Command.Type) -> String {
    let left = command.options.entries.map { entry in
      entry.name + (entry.placeholder.map { " \($0)" } ?? "") + (entry.isRepeated ? "…" : "")
    }
    let width = min((left.map(\.count).max() ?? 0) + 2, 30)
    let lines = zip(left, command.options.entries).map { name, entry in
      let help = wrapped(entry.help, width: 118 - width).joined(separator: "\n" + spaces(width + 2))
      return name.count < width
        ? "  " + padded(name, width) + help : "  \(name)\n" + spaces(width + 2) + help
    }
    return """
      \(command.summary.prefix(1).uppercased())\(command.summary.dropFirst()).

      Usage: zonai \(command.name) \(command.usage)

      \(lines.joined(separator: "\n"))

      \(command.notes)
      """
  }

  private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

  private static func padded(_ text: String, _ width: Int) -> String { text + spaces(max(width - text.count, 1)) }

  private static func wrapped(_ text: String, width: Int) -> [String] {
    var lines: [String] = [""]
    for word in text.split(separator: " ") {
      let last = lines[lines.count - 1]
      if last.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if last.count + word.count < width {
        lines[lines.count - 1] = last + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
