/// Finds the word that somebody who made a typing error probably meant.
package enum Nearest {
  /// ", did you mean --store?", or nothing when no word is near.
  package static func hint(_ word: String, in words: [String]) -> String {
    find(word, in: words).map { "; did you mean \($0)?" } ?? ""
  }

  /// The nearest word, if at most a third of it differs.
  package static func find(_ word: String, in words: [String]) -> String? {
    let found = words.map { (word: $0, distance: distance(Array(word.lowercased()), Array($0.lowercased()))) }
      .min { $0.distance < $1.distance }
    guard let found, found.distance <= max(2, found.word.count / 3) else { return nil }
    return found.word
  }

  /// How many letters must be put in, left out, changed, or swapped with their neighbour.
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var before: [Int] = []
    var previous = Array(0...right.count)
    for (row, letter) in left.enumerated() {
      var current = [row + 1]
      for (column, other) in right.enumerated() {
        var cost = min(previous[column] + (letter == other ? 0 : 1), previous[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
          cost = min(cost, before[column - 1] + 1)
        }
        current.append(cost)
      }
      before = previous
      previous = current
    }
    return previous[right.count]
  }
}
