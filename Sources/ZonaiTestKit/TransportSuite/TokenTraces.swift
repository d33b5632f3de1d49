import ZonaiCore

/// Finds a token in text, or more of it than is shown on purpose, in whatever form it got there.
///
/// It shares no code with what hides tokens: a mistake in one does not agree with the other.
struct TokenTraces {
  /// So many characters of a token may be shown.
  static let shown = 6

  private let plain: Pieces
  private let inBase64: Pieces
  private let inHex: Pieces

  init(of secrets: [String]) {
    let secrets = secrets.map { Array($0.utf8) }
    plain = Pieces(of: secrets.map(Self.lowercased), length: Self.shown + 1)
    inHex = Pieces(of: secrets.map { Array($0.hex.utf8) }, length: Self.shown + 2)
    // A piece begins at any byte of base64's groups of three.
    let encoded = secrets.flatMap { secret in
      (0..<min(3, secret.count)).map { start in
        Array(Self.base64(Array(secret.dropFirst(start).prefix((secret.count - start) / 3 * 3))).utf8)
      }
    }
    inBase64 = Pieces(of: encoded, length: Self.shown + 2)
  }

  /// What the text shows of the token; nil if nothing.
  func found(in text: String) -> String? {
    let bytes = Array(text.utf8)
    return plain.found(in: Self.lowercased(bytes)).map { "\($0)" }
      ?? plain.found(in: Self.lowercased(Self.percentDecoded(bytes))).map { "\($0), percent-encoded" }
      ?? inBase64.found(in: bytes).map { "\($0), in base64" }
      ?? inHex.found(in: Self.lowercased(bytes)).map { "\($0), in hexadecimal digits" }
  }

  /// All pieces of some texts that have one length, of at most eight bytes: each in one number.
  private struct Pieces {
    private let length: Int
    private var packed: Set<UInt64> = []

    init(of texts: [[UInt8]], length: Int) {
      self.length = length
      for text in texts { each(of: text) { piece, _ in packed.insert(piece) } }
    }

    func found(in text: [UInt8]) -> String? {
      var found: String?
      each(of: text) { piece, end in
        if found == nil, packed.contains(piece) {
          found = String(decoding: text[(end - length)..<end], as: UTF8.self)
        }
      }
      return found
    }

    private func each(of text: [UInt8], _ body: (_ piece: UInt64, _ end: Int) -> Void) {
      var piece: UInt64 = 0
      for (index, byte) in text.enumerated() {
        piece = (piece << 8 | UInt64(byte)) & (.max >> UInt64(64 - 8 * length))
        if index + 1 >= length { body(piece, index + 1) }
      }
    }
  }

  private static func lowercased(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
  }

  // MARK: Encodings

  /// With `all`, letters and digits too, as few libraries do and any may.
  static func percentEncoded(_ bytes: [UInt8], all: Bool) -> String {
    bytes.map { byte in
      let isPlain = Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber
      return isPlain && byte < 0x80 && !all ? String(decoding: [byte], as: UTF8.self) : "%" + [byte].hex.uppercased()
    }.joined()
  }

  private static func percentDecoded(_ bytes: [UInt8]) -> [UInt8] {
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = bytes[index + 1].hexDigit,
        let low = bytes[index + 2].hexDigit
      {
        decoded.append(high << 4 | low)
        index += 3
      } else {
        decoded.append(bytes[index])
        index += 1
      }
    }
    return decoded
  }

  /// The alphabet for URLs differs in two characters, which no ASCII text has.
  /// https://www.rfc-editor.org/rfc/rfc4648
  static func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0...group.count { text.append(digits[bits >> (18 - 6 * place) & 63]) }
      text += Array(repeating: UInt8(ascii: "="), count: 3 - group.count)
    }
    return String(decoding: text, as: UTF8.self)
  }
}
