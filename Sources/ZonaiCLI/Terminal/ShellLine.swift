/// A command line as a person can paste it into a shell.
enum ShellLine {
  static func text(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

  /// The same over several lines, broken where a shell allows it.
  static func text(_ words: [String], width: Int, indentation: String) -> String {
    var lines: [String] = []
    var line = ""
    for word in words.map(quoted) {
      if !line.isEmpty, line.count + word.count > width, word.hasPrefix("-") {
        lines.append(line)
        line = word
      } else {
        line += (line.isEmpty ? "" : " ") + word
      }
    }
    return (lines + [line]).joined(separator: " \\\n\(indentation)")
  }

  private static func quoted(_ word: String) -> String {
    let plain = word.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "_-./:=,@%+".utf8.contains(byte)
      }
    }
    if plain, !word.isEmpty { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
