/// Statuses below 500 that speak about the moment or the connection, never about the request or the
/// device.
///
/// Google's front end answers a share of the requests with 408 under heavy traffic, with an empty
/// body or a page.
/// https://www.rfc-editor.org/rfc/rfc9110#section-15.5.9
enum PassingStatus {
  /// Request Timeout, Misdirected Request and Too Early: the server did not look at the request.
  static let notHandled: Set<Int> = [408, 421, 425]
  /// Client Closed Request, Bad Gateway and Gateway Timeout: the service behind the gateway may
  /// have handled the request.
  static let mayBeHandled: Set<Int> = [499, 502, 504]

  /// A status from 400 to 499 under which a service's own codes and reasons count.
  static func isAboutTheRequest(_ status: Int) -> Bool {
    (400...499).contains(status) && status != 429 && !notHandled.contains(status) && !mayBeHandled.contains(status)
  }
}
