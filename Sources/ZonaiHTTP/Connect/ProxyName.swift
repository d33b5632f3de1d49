import CZonaiCurl

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The proxy that the environment names for https, as it may be shown: host and port, without user
/// and password.
enum ProxyName {
  /// nil when no variable names one. libcurl reads the same variables, in this order.
  static var current: String? {
    for variable in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
      guard let value = getenv(variable), value.pointee != 0 else { continue }
      return shown(String(cString: value)) ?? variable
    }
    return nil
  }

  /// nil for text that is not an address.
  static func shown(_ address: String) -> String? {
    guard let url = curl_url() else { return nil }
    defer { curl_url_cleanup(url) }
    let flags = UInt32(CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME)
    guard curl_url_set(url, CURLUPART_URL, address, flags) == CURLUE_OK, let host = part(url, CURLUPART_HOST) else {
      return nil
    }
    // libcurl's default for a proxy without a port is 1080, or 443 for one that is reached over
    // TLS.
    return host + ":" + (part(url, CURLUPART_PORT) ?? (address.hasPrefix("https://") ? "443" : "1080"))
  }

  private static func part(_ url: OpaquePointer, _ part: CURLUPart) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(url, part, &text, 0) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}
