/// The names that a person may have meant, nearest first, for sentences about a name that does not exist.
public enum NearbyNames {
  /// The names as a phrase: "it has token, tokens, platform and 5 more". At most `limit` are shown, eight by default, since
  /// a sentence is no listing.
  public static func phrase(for wanted: String, among names: [String], limit: Int = 8) -> String {
    guard !names.isEmpty else { return "it has none" }
    let sorted = names.map { (name: $0, distance: distance(wanted.lowercased(), $0.lowercased())) }
      .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
      .map(\.name)
    let shown = sorted.prefix(limit).joined(separator: ", ")
    return "it has " + shown + (sorted.count > limit ? " and \(sorted.count - limit) more" : "")
  }

  /// How many letters must be changed, added or taken away to make one word of the other.
  static func distance(_ left: String, _ right: String) -> Int {
    let right = Array(right.unicodeScalars)
    var row = Array(0...right.count)
    for (line, scalar) in left.unicodeScalars.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for column in right.indices {
        let changed = diagonal + (scalar == right[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(changed, diagonal + 1, row[column] + 1)
      }
    }
    return row[right.count]
  }
}
