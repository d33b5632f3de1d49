/// Words of a service, a database or an application, made fit for a log: one line, short, and
/// without a device token.
public enum ServiceWords {
  /// The longest text that is kept, in characters.
  public static let limit = 300
  /// The longest run of token characters that is still a word; no reason of the services comes near it, no token is shorter.
  static let longestWord = 40
  /// Longer runs are cut too when digits and letters take turns in them, as in a part of a token.
  static let longestMixedWord = 19

  /// The services' words for a dead token, which never hold the token. Dead tokens come by the
  /// thousand, and a search for each in its answer is the dearest part of reading it.
  private static let standing: Set<String> = [
    "Requested entity was not found.", "Unregistered", "BadDeviceToken", "ExpiredToken",
  ]

  /// Long runs of token characters are cut to their first six, so that a token that a service
  /// repeats is never shown whole. `token`, if given, is cut out wherever more than six bytes of it
  /// stand, in whatever case or encoding.
  public static func shortened(_ text: String, hiding token: ArraySlice<UInt8>? = nil) -> String {
    shortened(text, hidingAll: token.map { [$0] } ?? [])
  }

  /// The same with everything cut out that is named.
  public static func shortened(_ text: String, hidingAll secrets: [ArraySlice<UInt8>]) -> String {
    if secrets.isEmpty ? isFit(text) : standing.contains(text) { return text }
    // What comes behind is not shown, and may be megabytes.
    var words = Array(text.utf8.prefix(limit * 8))
    for secret in secrets { words = TokenPieces.hide(secret, in: words) }
    var bytes = words[...]
    var shown: [UInt8] = []
    while let first = bytes.first {
      guard isTokenCharacter(first) else {
        shown.append(first < 0x20 || first == 0x7f ? UInt8(ascii: " ") : first)
        bytes.removeFirst()
        continue
      }
      let run = bytes.prefix(while: isTokenCharacter)
      if isWord(run) {
        shown.append(contentsOf: run)
      } else {
        shown.append(contentsOf: run.prefix(6))
        shown.append(contentsOf: "…".utf8)
      }
      bytes.removeFirst(run.count)
    }
    let cleaned = String(decoding: shown, as: UTF8.self)
    return cleaned.count <= limit ? cleaned : cleaned.prefix(limit - 1) + "…"
  }

  /// Whether the text can stay as it is, as nearly all do: dead tokens come by the thousand.
  private static func isFit(_ text: String) -> Bool {
    guard text.utf8.count <= limit else { return false }
    var run = 0
    for byte in text.utf8 {
      run = isTokenCharacter(byte) ? run + 1 : 0
      if run > longestMixedWord || byte < 0x20 || byte == 0x7f { return false }
    }
    return true
  }

  private static func isWord(_ run: ArraySlice<UInt8>) -> Bool {
    if run.count <= longestMixedWord { return true }
    if run.count > longestWord { return false }
    let turns = zip(run, run.dropFirst()).count { isDigit($0) != isDigit($1) }
    return turns < 4
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
