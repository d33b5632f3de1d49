/// A word of a condition, with the place where it begins.
struct PredicateToken: Hashable {
  var kind: Kind
  var offset: Int

  enum Kind: Hashable {
    /// In lower case: `and`, `or`, `not`, `in`, `like`, `is`, `null`, `true`, `false`.
    case keyword(String)
    /// A name without quotes.
    case name(String)
    /// A name in double quotes, which many a shell user meant as text.
    case quotedName(String)
    case text(String)
    case integer(Int64)
    case real(Double)
    case bytes([UInt8])
    case comparison(Predicate.Comparison)
    case open, close, comma
    case end
  }

  static let keywords: Set<String> = ["and", "or", "not", "in", "like", "is", "null", "true", "false"]
}
