/// Reads a condition as people write it on a command line: `active = true and locale in ('en', 'fr')`.
///
/// A column is compared with a value, never with another column. `true` and `false` alone accept everybody and nobody.
public enum PredicateParser {
  /// How deep parentheses and `not` may be nested; a text of a million `(` ends with a sentence, not with the stack.
  public static let depthLimit = 100

  public static func parse(_ text: String) throws(PredicateFault) -> Predicate {
    var reader = try PredicateReader(text)
    return try reader.whole()
  }
}
