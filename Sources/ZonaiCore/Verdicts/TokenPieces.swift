/// Finds a token or a key in a text, whole or in pieces, and in the forms that a service, a
/// database or a library gives it: another case, percent-encoded, in base64 or in hexadecimal
/// digits.
struct TokenPieces {
  /// The shortest piece that is found, in bytes of the token. A token's own description shows one
  /// byte less.
  private static let shortest = 7
  /// Encoded pieces are found by windows of eight characters, in runs of characters that are longer
  /// than words are.
  private static let encodedWindow = 8
  private static let shortestEncodedRun = 16

  private let text: [UInt8]
  private let token: [UInt8]
  private var isFound: [Bool]

  /// The text with an ellipsis in the place of each piece of the token.
  ///
  /// A secret shorter than a piece is found only where it is a word of its own: the key 3 is not
  /// the 3 of 300.
  static func hide(_ token: ArraySlice<UInt8>, in text: [UInt8]) -> [UInt8] {
    var pieces = TokenPieces(text, token)
    pieces.find()
    return pieces.shown
  }

  private init(_ text: [UInt8], _ token: ArraySlice<UInt8>) {
    self.text = text
    self.token = Array(token)
    isFound = Array(repeating: false, count: self.text.count)
  }

  private var shown: [UInt8] {
    var shown: [UInt8] = []
    for (index, byte) in text.enumerated() {
      if !isFound[index] {
        shown.append(byte)
      } else if index == 0 || !isFound[index - 1] {
        shown.append(contentsOf: "…".utf8)
      }
    }
    return shown
  }

  private mutating func find() {
    guard token.count >= Self.shortest else { return findWord() }
    let (characters, ends) = percentDecoded
    find(windows(token.map(\.lowercased), Self.shortest), in: characters, ends)
    guard longestRun(where: \.isBase64) >= Self.shortestEncodedRun else { return }
    let places = Array(1...text.count)
    // A piece begins at any byte of base64's groups of three.
    for start in 0..<min(3, token.count) {
      let whole = token.dropFirst(start).prefix((token.count - start) / 3 * 3)
      find(windows(base64(whole), Self.encodedWindow), in: text, places)
    }
    guard longestRun(where: { $0.hexDigit != nil }) >= Self.shortestEncodedRun else { return }
    find(windows(Array(token.hex.utf8), Self.encodedWindow), in: text.map(\.lowercased), places)
  }

  private mutating func findWord() {
    let (word, lowered) = (token.map(\.lowercased), text.map(\.lowercased))
    guard !word.isEmpty, word.count <= lowered.count else { return }
    for start in 0...lowered.count - word.count {
      let end = start + word.count
      guard lowered[start..<end].elementsEqual(word), start == 0 || !lowered[start - 1].isOfWord,
        end == lowered.count || !lowered[end].isOfWord
      else { continue }
      for place in start..<end { isFound[place] = true }
    }
  }

  /// Marks what the windows, all of one length, match. `ends` says where each character ends in the
  /// text.
  private mutating func find(_ windows: Windows, in characters: [UInt8], _ ends: [Int]) {
    guard windows.length > 0 else { return }
    var seen: UInt64 = 0
    for (index, character) in characters.enumerated() {
      seen = (seen << 8 | UInt64(character)) & windows.mask
      guard index + 1 >= windows.length, windows.packed.contains(seen) else { continue }
      let start = index + 1 == windows.length ? 0 : ends[index - windows.length]
      for place in start..<ends[index] { isFound[place] = true }
    }
  }

  /// Every piece of a text that has one length of at most eight bytes, each in one number.
  private struct Windows {
    var length: Int
    var packed: [UInt64] = []
    var mask: UInt64 { length == 8 ? .max : (1 << UInt64(8 * length)) - 1 }
  }

  /// A text that is shorter has none.
  private func windows(_ bytes: [UInt8], _ length: Int) -> Windows {
    var windows = Windows(length: bytes.count >= length ? length : 0)
    var seen: UInt64 = 0
    for (index, byte) in bytes.enumerated() {
      seen = (seen << 8 | UInt64(byte)) & windows.mask
      if index + 1 >= windows.length { windows.packed.append(seen) }
    }
    return windows
  }

  private func longestRun(where isMember: (UInt8) -> Bool) -> Int {
    var longest = 0
    var run = 0
    for byte in text {
      run = isMember(byte) ? run + 1 : 0
      longest = max(longest, run)
    }
    return longest
  }

  /// The text's characters in lower case, those that are percent-encoded decoded, and where each
  /// ends in the text.
  private var percentDecoded: (characters: [UInt8], ends: [Int]) {
    var characters: [UInt8] = []
    var ends: [Int] = []
    var index = 0
    while index < text.count {
      if text[index] == UInt8(ascii: "%"), index + 2 < text.count, let high = text[index + 1].hexDigit,
        let low = text[index + 2].hexDigit
      {
        characters.append((high << 4 | low).lowercased)
        index += 3
      } else {
        characters.append(text[index].lowercased)
        index += 1
      }
      ends.append(index)
    }
    return (characters, ends)
  }

  /// Of whole groups of three bytes. The alphabet for URLs differs in two characters, which no
  /// ASCII text has.
  /// https://www.rfc-editor.org/rfc/rfc4648
  private func base64(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var encoded: [UInt8] = []
    for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: 3) {
      let bits = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
      for place in 0..<4 { encoded.append(digits[bits >> (18 - 6 * place) & 63]) }
    }
    return encoded
  }
}

extension UInt8 {
  fileprivate var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self }

  fileprivate var isOfWord: Bool {
    (0x30...0x39).contains(self) || (0x61...0x7a).contains(self) || self == UInt8(ascii: "_") || self >= 0x80
  }

  fileprivate var isBase64: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }
}
