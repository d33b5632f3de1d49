/// Why, in the service's own word, or in one of ours where no service spoke. Open: services add reasons.
public struct Reason: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral, CustomStringConvertible
{
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral value: String) { rawValue = value }
  public var description: String { rawValue }

  // Zonai's own words. Those of the services stand in their verdict tables.
  /// No answer within the time limit; the service may have handled the request.
  public static let timedOut: Reason = "timedOut"
  /// The connection ended after the request was written and before its answer came.
  public static let answerLost: Reason = "answerLost"
  /// The request surely was not handled: a GOAWAY, a refused stream, or it was never written whole.
  public static let notHandled: Reason = "notHandled"
  public static let cannotConnect: Reason = "cannotConnect"
  public static let nameNotResolved: Reason = "nameNotResolved"
  public static let certificateNotTrusted: Reason = "certificateNotTrusted"
  public static let certificateNameWrong: Reason = "certificateNameWrong"
  public static let http2NotSpoken: Reason = "http2NotSpoken"
  /// The body was not the service's JSON: a proxy or another server answered.
  public static let notTheService: Reason = "notTheService"
  /// No lane serves the row's platform.
  public static let noLane: Reason = "noLane"
  /// The token cannot belong to the lane, by its shape; it was not sent.
  public static let tokenNotForLane: Reason = "tokenNotForLane"
  /// The token fills its column to the end and the service calls it malformed: the column has cut
  /// it off.
  public static let tokenCutOff: Reason = "tokenCutOff"
  /// The message's time to live ran out before it was sent.
  public static let expired: Reason = "expired"
}
