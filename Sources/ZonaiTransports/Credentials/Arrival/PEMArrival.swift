/// A private key in PEM form as it arrived. Line breaks that its way changed are put right if there
/// is one reading; other damage is named. Nothing here shows a part of the key.
struct PEMArrival {
  /// The key as it can be read, or as it arrived.
  private(set) var text: String
  /// What was put right, as clauses that follow the name of the source.
  private(set) var repairs: [String] = []
  /// What cannot be put right, as a clause that follows "is damaged: ".
  private(set) var damage: String?

  init(_ arrived: String) {
    (text, repairs) = KeyWrapping.unwrapped(Array(arrived.utf8))
    // A JSON file with a key in it is not that key.
    if KeyKind(of: text) == .json || SigningKey.isReadable(pem: text) { return }
    if text.contains("PRIVATE%20KEY") || text.contains("PRIVATE+KEY") {
      damage = "it went through a URL or a web form, which wrote its blanks and line breaks as %-codes or plus signs"
      return
    }
    repairBreaks()
    repairLabels()
    guard let block = findBlock() else { return }
    rebuild(block)
  }

  /// A block of PEM with lines of 64 characters.
  static func block(_ label: some StringProtocol, _ base64: String) -> String {
    var lines = ["-----BEGIN \(label)-----"]
    var rest = base64[...]
    while !rest.isEmpty {
      lines.append(String(rest.prefix(64)))
      rest = rest.dropFirst(64)
    }
    return (lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
  }

  private typealias Block = (label: Substring, body: Substring)

  /// No character of PEM is a backslash, so one before n or r stands for a line break, however
  /// often it was escaped.
  private mutating func repairBreaks() {
    guard text.contains("BEGIN"), text.contains("\\") else { return }
    var broken = ""
    var isEscaped = false
    for character in text {
      if character == "\\" {
        isEscaped = true
      } else if isEscaped, character == "n" || character == "r" || character.isNewline {
        broken += "\n"
        isEscaped = false
      } else {
        if isEscaped { broken += "\\" }
        isEscaped = false
        broken.append(character)
      }
    }
    guard broken != text else { return }
    text = broken
    repairs.append("has \\n in place of line breaks")
  }

  /// Where every blank was taken out, the two outer lines lack theirs.
  private mutating func repairLabels() {
    guard text.contains("-----BEGINPRIVATEKEY-----") else { return }
    for word in ["BEGIN", "END"] {
      text = text.replacing("-----\(word)PRIVATEKEY-----", with: "-----\(word) PRIVATE KEY-----")
    }
    repairs.append("has no blanks")
  }

  /// What stands between the two outer lines of a key without a passphrase; nil if there is no such
  /// key, or with its damage.
  private mutating func findBlock() -> Block? {
    guard let begin = text.firstRange(of: "-----BEGIN ") else {
      if text.contains("-----END "), text.contains("PRIVATE KEY") {
        damage = "its first line, -----BEGIN …-----, is missing"
      } else if text.contains("BEGIN PRIVATE KEY") || text.contains("BEGIN RSA PRIVATE KEY") {
        damage = "its first line does not begin with five hyphens, which a word processor may have changed"
      }
      return nil
    }
    let rest = text[begin.upperBound...]
    guard let dashes = rest.firstRange(of: "-----") else {
      damage = "it ends within its first line, so it was cut off"
      return nil
    }
    let label = rest[..<dashes.lowerBound]
    guard ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"].contains(label) else { return nil }
    guard let end = rest.firstRange(of: "-----END \(label)-----") else {
      damage = "its last line, -----END \(label)-----, is missing or not whole, so it was cut off"
      return nil
    }
    let body = rest[dashes.upperBound..<end.lowerBound]
    // Headers such as Proc-Type belong to a key with a passphrase.
    return body.contains(":") ? nil : (label, body)
  }

  private mutating func rebuild(_ block: Block) {
    var lines = block.body.split(whereSeparator: \.isNewline).map { $0.split { $0 == " " || $0 == "\t" } }
    lines.removeAll { $0.isEmpty }
    if lines.count == 1, let pieces = lines.first, pieces.count > 1 {
      // Lines of PEM are equally long but for the last. Blanks that were plus signs stand anywhere.
      let length = pieces[0].count
      guard length >= 16, pieces.dropLast().allSatisfy({ $0.count == length }), (pieces.last?.count ?? 0) <= length
      else {
        return damage = PEMArrival.lostPluses
      }
      repairs.append("has blanks in place of line breaks")
      lines = pieces.map { [$0] }
    } else if lines.contains(where: { $0.count > 1 }) {
      return damage = PEMArrival.lostPluses
    } else if repairs.isEmpty {
      repairs.append(lines.count == 1 ? "has no line breaks" : "has lines that are broken or indented otherwise")
    }
    let digits = lines.flatMap { $0 }.joined()
    if let line = lines.firstIndex(where: { !$0[0].utf8.allSatisfy { Base64.isDigit($0) || $0 == UInt8(ascii: "=") } })
    {
      return damage = "a character in line \(line + 2) of the key is not one of base64"
    }
    guard let der = Base64.decoded(Array(digits.utf8)) else {
      return damage =
        "its base64 has \(digits.count) characters and does not end as it must, so some are missing or were added"
    }
    guard let header = DERHeader(der), header.total == der.count else {
      let expected = DERHeader(der)?.total ?? der.count
      return damage =
        expected > der.count
        ? "\(expected - der.count) of its \(expected) bytes are missing"
        : "it has bytes too many, or its beginning was changed"
    }
    text = PEMArrival.block(block.label, digits)
    if !SigningKey.isReadable(pem: text) {
      damage = "it has the length of a private key, but some of its characters were changed"
    }
  }

  private static let lostPluses =
    "it has blanks inside its lines, which were plus signs before it went through a URL or a web form"
}
