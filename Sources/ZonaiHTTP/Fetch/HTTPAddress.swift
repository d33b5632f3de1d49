import CZonaiCurl

/// The parts of a URL that decide whether it may be asked, read by libcurl's own parser so that nobody disagrees later.
struct HTTPAddress {
  let host: String

  /// Refuses everything but https, and http on loopback.
  init(_ url: String) throws(HTTPFailure) {
    guard let handle = curl_url() else { throw HTTPFailure(.other, "libcurl has no memory for a URL") }
    defer { curl_url_cleanup(handle) }
    guard curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK,
      let scheme = Self.part(handle, CURLUPART_SCHEME), let host = Self.part(handle, CURLUPART_HOST)
    else { throw HTTPFailure(.malformedRequest, "the URL cannot be read; it needs the form https://host/path") }
    self.host = host
    switch scheme {
    case "https": break
    case "http" where HTTPOrigin.isLoopback(host): break
    default:
      throw HTTPFailure(.malformedRequest, "\(scheme) to \(host) is not allowed; use https (http only on loopback)")
    }
  }

  var isLoopback: Bool { HTTPOrigin.isLoopback(host) }

  private static func part(_ handle: OpaquePointer, _ part: CURLUPart) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}
