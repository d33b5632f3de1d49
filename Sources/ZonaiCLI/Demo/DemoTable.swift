/// Rows as people read them: aligned, tokens shortened, changed ones marked.
enum DemoTable {
  private static let shown = 12

  /// `before` is the same query's result from earlier; rows that differ are marked.
  static func text(_ rows: [[String?]], before: [[String?]]? = nil) -> String {
    let texts = rows.map { row in row.map(cell) }
    let widths = (texts.first ?? []).indices.map { column in texts.map { $0[column].count }.max() ?? 0 }
    return texts.enumerated().map { index, row in
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      var line = "   " + cells.joined(separator: "  ")
      if let before, before[index] != rows[index] { line += "  <- cleared" }
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }

  private static func cell(_ value: String?) -> String {
    guard let value else { return "NULL" }
    return value.count > 24 ? value.prefix(shown) + "…" : value
  }
}
