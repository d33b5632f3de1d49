/// A condition that cannot be read: what is wrong, what to do, and where.
public struct PredicateFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// One sentence: what is wrong and what to do.
  public let sentence: String
  /// The condition as it was given.
  public let text: String
  /// Where it stands, in bytes from the start.
  public let offset: Int

  init(_ sentence: String, in text: String, at offset: Int) {
    self.sentence = sentence
    self.text = text
    self.offset = offset
  }

  /// The line of the place, from 1.
  public var line: Int { 1 + before.count { $0 == UInt8(ascii: "\n") } }

  /// The character of the place in its line, from 1.
  public var column: Int { 1 + String(decoding: lineBefore, as: UTF8.self).count }

  /// The sentence, the line, and a caret beneath the place. A long line is shown around the place only.
  public var description: String {
    let left = Array(String(decoding: lineBefore, as: UTF8.self))
    let right = Array(String(decoding: lineAfter, as: UTF8.self))
    let shownLeft = left.suffix(60)
    let shownRight = right.prefix(40)
    let start = shownLeft.count < left.count ? "…" : ""
    let end = shownRight.count < right.count ? "…" : ""
    let indent = String(start.map { _ in " " } + shownLeft.map { $0 == "\t" ? "\t" : " " })
    let place = line > 1 ? "line \(line), column \(column)" : "column \(column)"
    return "\(sentence) (\(place))\n  \(start)\(String(shownLeft))\(String(shownRight))\(end)\n  \(indent)^"
  }

  private var bytes: [UInt8] { Array(text.utf8) }
  private var before: ArraySlice<UInt8> { bytes.prefix(offset) }
  private var lineBefore: ArraySlice<UInt8> {
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return before[start...]
  }
  private var lineAfter: ArraySlice<UInt8> { bytes.dropFirst(offset).prefix { $0 != UInt8(ascii: "\n") } }
}
