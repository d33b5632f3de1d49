import ZonaiCore

/// Tokens for tests: different from one another, the same in every run, and as random as a
/// service's own.
public enum MadeUpTokens {
  /// Of hexadecimal digits, 64 of them as APNs has.
  public static func hexadecimal(_ count: Int, digits: Int = 64) -> [String] {
    make(count, length: digits, of: Array("0123456789abcdef".utf8))
  }

  /// Of letters, digits, `-` and `_`.
  public static func text(_ count: Int, length: Int) -> [String] {
    make(count, length: length, of: Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8))
  }

  private static func make(_ count: Int, length: Int, of characters: [UInt8]) -> [String] {
    (0..<count).map { index in
      var random = SplitMix64(seed: UInt64(index))
      return String(
        decoding: (0..<length).map { _ in characters[Int(random.next() % UInt64(characters.count))] }, as: UTF8.self)
    }
  }
}
