import ZonaiHTTP

/// Tells a program on this machine, which may use the control port, from a web page that a browser
/// on it shows.
///
/// A browser connects to 127.0.0.1 for any page. What gives a page away: a name that was bound to
/// this machine in Host, another Origin, a request that Sec-Fetch-Site says is not the user's own,
/// and a body of a type that pages can send without asking first
/// (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
struct ControlCaller {
  let port: UInt16

  /// Throws unless the request is one that a program made on purpose.
  func check(_ request: ServerRequest) throws(ControlRefusal) {
    guard isOwn(request.authority) else {
      throw ControlRefusal(
        403, "foreign_host",
        "the control answers at 127.0.0.1, ::1 and localhost with its port; Host named another place")
    }
    let origins = request.headers.filter { $0.name == "origin" }
    guard origins.allSatisfy({ $0.value.hasPrefix("http://") && isOwn(String($0.value.dropFirst(7))) }) else {
      throw ControlRefusal(
        403, "foreign_origin", "the control does not answer web pages; ask it without the field Origin")
    }
    let sites = request.headers.filter { $0.name == "sec-fetch-site" }
    guard sites.allSatisfy({ ["none", "same-origin"].contains($0.value) }) else {
      throw ControlRefusal(403, "foreign_origin", "the control does not answer web pages; ask it from a program")
    }
    guard hasBody(request) else { return }
    let types = request.headers.filter { $0.name == "content-type" }
    guard types.count == 1, let type = types.first, isJSON(type.value) else {
      throw ControlRefusal(
        415, "not_json", "a body must be JSON and say so; send the header content-type: application/json")
    }
  }

  private func hasBody(_ request: ServerRequest) -> Bool {
    !request.body.isEmpty || request.isBodyTooLarge || ["POST", "PUT", "PATCH"].contains(request.method)
  }

  private func isJSON(_ type: String) -> Bool {
    let essence = type.prefix { $0 != ";" }.lowercased()
    return essence == "application/json" || essence == "application/json "
  }

  /// Whether it is a loopback name with this port. Without a port it is 80, which a simulator may
  /// have been given.
  private func isOwn(_ authority: String) -> Bool {
    let suffix = ":\(port)"
    let authority = authority.lowercased()
    if authority.hasSuffix(suffix) { return HTTPOrigin.isLoopback(String(authority.dropLast(suffix.utf8.count))) }
    return port == 80 && HTTPOrigin.isLoopback(authority)
  }
}
