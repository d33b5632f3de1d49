/// Whose the body of an answer is, by its shape. It is read before anything inside the body is.
public enum AnswerBody: String, Sendable, Hashable, Codable {
  /// JSON in the service's own form. FCM: an object with an `error` object that has a status text,
  /// details or an `errors` list, or with `name` at 200. APNs: an object with a `reason` text.
  /// OAuth: an object with an `error` text, or with `access_token` at 200.
  case service
  /// No byte at all.
  case empty
  /// Anything else, JSON of another form included: a proxy's page, another server's 404.
  case other
}
