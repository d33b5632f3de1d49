import ZonaiJSON

/// Takes a key out of what its way wrapped around it: another encoding, base64, quotes.
///
/// A wrapping is taken off only if a key or a service account is inside, so there is one reading.
enum KeyWrapping {
  /// The text, and a clause for each wrapping that was taken off, which follows the name of the
  /// source.
  static func unwrapped(_ bytes: [UInt8]) -> (text: String, repairs: [String]) {
    var bytes = bytes
    var repairs: [String] = []
    // Base64 of UTF-16 in quotes is possible; more than four are not a key's way.
    for _ in 0..<4 {
      guard let (inner, repair) = utf16(bytes) ?? mark(bytes) ?? binary(bytes) ?? quoted(bytes) ?? base64(bytes) else {
        break
      }
      bytes = inner
      repairs.append(repair)
    }
    return (String(decoding: bytes, as: UTF8.self), repairs)
  }

  private typealias Step = (bytes: [UInt8], repair: String)

  /// With a byte order mark, or without one when every other byte of the beginning is zero, as in
  /// any English text.
  private static func utf16(_ bytes: [UInt8]) -> Step? {
    guard bytes.count >= 4, bytes.count.isMultiple(of: 2) else { return nil }
    let start = bytes.prefix(8)
    func areZero(from first: Int) -> Bool { stride(from: first, to: start.count, by: 2).allSatisfy { start[$0] == 0 } }
    let isBigEndian: Bool
    switch (bytes[0], bytes[1]) {
    case (0xFE, 0xFF): isBigEndian = true
    case (0xFF, 0xFE): isBigEndian = false
    case (0, 1...): isBigEndian = true
    case (1..., 0): isBigEndian = false
    default: return nil
    }
    guard bytes[0] >= 0xFE || areZero(from: isBigEndian ? 0 : 1) else { return nil }
    let units = stride(from: 0, to: bytes.count, by: 2).map { place in
      let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
      return isBigEndian ? first << 8 | second : second << 8 | first
    }
    return (Array(String(decoding: units.drop { $0 == 0xFEFF }, as: UTF16.self).utf8), "is in UTF-16")
  }

  private static func mark(_ bytes: [UInt8]) -> Step? {
    guard bytes.starts(with: [0xEF, 0xBB, 0xBF]) else { return nil }
    return (Array(bytes.dropFirst(3)), "begins with a byte order mark")
  }

  /// A private key in DER, told by its outermost length and by what follows the version.
  private static func binary(_ bytes: [UInt8]) -> Step? {
    guard let der = DERHeader(bytes), der.total == bytes.count else { return nil }
    let inside = bytes[der.headerCount...]
    guard inside.count > 4, inside.starts(with: [2, 1]) else { return nil }
    let label: String
    switch inside[inside.startIndex + 3] {
    case 0x30: label = "PRIVATE KEY"
    case 0x04: label = "EC PRIVATE KEY"
    case 0x02: label = "RSA PRIVATE KEY"
    default: return nil
    }
    return (Array(PEMArrival.block(label, Base64.encoded(bytes)).utf8), "is in the binary form (DER)")
  }

  private static func quoted(_ bytes: [UInt8]) -> Step? {
    let text = bytes.trimmed
    guard text.count > 2, let quote = text.first, quote == text.last else { return nil }
    let inner = Array(text.dropFirst().dropLast())
    switch quote {
    case UInt8(ascii: "\""):
      let read = (try? JSON(parsing: text))?.string.map { Array($0.utf8) }
      return (read ?? inner, "is in quotes")
    case UInt8(ascii: "'"): return (inner, "is in quotes")
    default: return nil
    }
  }

  private static func base64(_ bytes: [UInt8]) -> Step? {
    let dense = bytes.filter { !$0.isSpace }
    guard let inner = Base64.decoded(dense) else { return nil }
    let isKey = utf16(inner) != nil || mark(inner) != nil || binary(inner) != nil
    let start = inner.trimmed
    guard isKey || start.starts(with: "-----BEGIN ".utf8) || start.first == UInt8(ascii: "{") else { return nil }
    return (inner, "is in base64")
  }
}

/// The beginning of a DER sequence: how many bytes the header has, and how many header and contents
/// should have.
struct DERHeader {
  let headerCount: Int
  let total: Int

  /// nil for what begins otherwise. Lengths of one to three bytes are enough for any key.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 2, bytes[0] == 0x30 else { return nil }
    let more = Int(bytes[1]) - 0x80
    guard more > 0 else {
      guard more < 0 else { return nil }
      (headerCount, total) = (2, 2 + Int(bytes[1]))
      return
    }
    guard more <= 3, bytes.count >= 2 + more else { return nil }
    headerCount = 2 + more
    total = headerCount + bytes[2..<2 + more].reduce(0) { $0 << 8 | Int($1) }
  }
}

extension Collection<UInt8> {
  /// Without white space at either end.
  fileprivate var trimmed: [UInt8] {
    var rest = Array(drop { $0.isSpace })[...]
    while rest.last?.isSpace == true { rest.removeLast() }
    return Array(rest)
  }
}

extension UInt8 {
  fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
