/// A message that no service would take, found before anything is sent. Names the field and what to do.
public struct MessageFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The field, in the message's own words: `collapseKey`, `data.from`, `fcmOverride`.
  public let field: String
  /// One sentence: what is wrong and what to do.
  public let sentence: String

  public init(field: String, _ sentence: String) {
    self.field = field
    self.sentence = sentence
  }

  public var description: String { sentence }
}
