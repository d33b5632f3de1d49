import CZonaiCurl

/// libcurl, set up once for the process.
enum Curl {
  /// nil when libcurl cannot be used here, for the reason given.
  static let problem: HTTPFailure? = {
    let started = zonai_curl_global_init()
    guard started == CURLE_OK else {
      return HTTPFailure(.unsupportedLibrary, "libcurl cannot be started", detail: text(started))
    }
    guard let version = curl_version_info(CURLVERSION_TENTH), let library = version.pointee.ssl_version else {
      return HTTPFailure(.unsupportedLibrary, "libcurl was built without TLS; install the one that uses OpenSSL")
    }
    let name = String(cString: library)
    // The context that libcurl hands to our callback is of the TLS library's own type.
    guard ["OpenSSL", "quictls"].contains(where: name.hasPrefix) else {
      return HTTPFailure(
        .unsupportedLibrary, "libcurl uses another TLS library; install the one that uses OpenSSL", detail: name)
    }
    return nil
  }()

  static func text(_ code: CURLcode) -> String { String(cString: curl_easy_strerror(code)) }
}

/// One of libcurl's easy handles, with room for what it has to say about a failure.
struct CurlHandle: ~Copyable {
  let easy: UnsafeMutableRawPointer
  private let words: UnsafeMutablePointer<CChar>

  init() throws(HTTPFailure) {
    if let problem = Curl.problem { throw problem }
    guard let easy = curl_easy_init() else { throw HTTPFailure(.other, "libcurl has no memory for a connection") }
    self.easy = easy
    words = .allocate(capacity: Int(CURL_ERROR_SIZE))
    words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    curl_easy_cleanup(easy)
    words.deallocate()
  }

  func set(_ option: CURLoption, _ value: Int) throws(HTTPFailure) {
    try check(zonai_curl_set_long(easy, option, value))
  }

  func set(_ option: CURLoption, _ value: String) throws(HTTPFailure) {
    try check(zonai_curl_set_string(easy, option, value))
  }

  func check(_ code: CURLcode) throws(HTTPFailure) {
    if code != CURLE_OK { throw HTTPFailure(.other, "libcurl refuses an option", detail: Curl.text(code)) }
  }

  /// What every connection has in common: certificates and names are always verified.
  func prepare(connectTimeout: Int64, caFile: String?, usesProxy: Bool) throws(HTTPFailure) {
    try check(zonai_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, words))
    // Signals are no business of a library; time-outs in the name look-up do not need them.
    try set(CURLOPT_NOSIGNAL, 1)
    try check(zonai_curl_set_quick_exit(easy))
    try check(zonai_curl_set_private_sockets(easy))
    try set(CURLOPT_SSL_VERIFYPEER, 1)
    try set(CURLOPT_SSL_VERIFYHOST, 2)
    try set(CURLOPT_CONNECTTIMEOUT_MS, Int(connectTimeout))
    if let caFile { try set(CURLOPT_CAINFO, caFile) }
    if !usesProxy { try set(CURLOPT_NOPROXY, "*") }
  }

  /// Turns a failed connect or transfer into a sentence.
  func failure(_ code: CURLcode, host: String, timeout: Int64, caFile: String?) -> HTTPFailure {
    let said = String(cString: words)
    if let status = proxyStatus { return HTTPFailure(proxyStatus: status, host: host, proxy: ProxyName.current) }
    return HTTPFailure(
      curl: code, detail: said.isEmpty ? Curl.text(code) : said, isUntrusted: isUntrusted, host: host, timeout: timeout,
      caFile: caFile)
  }

  /// What a proxy answered instead of leading to the host; nil when it led there, or there is none.
  private var proxyStatus: Int? {
    var status = 0
    guard zonai_curl_get_long(easy, CURLINFO_HTTP_CONNECTCODE, &status) == CURLE_OK, status != 0 else { return nil }
    return (200...299).contains(status) ? nil : status
  }

  /// OpenSSL's own verdict on the chain. libcurl compares the names itself, before it has asked for that verdict: until
  /// then it is "unspecified".
  private var isUntrusted: Bool {
    var verdict = 0
    let unspecified = 1
    return zonai_curl_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &verdict) != CURLE_OK || verdict > unspecified
  }
}

extension HTTPFailure {
  /// 407 and 403 are answers about who asks for what; any other may pass.
  fileprivate init(proxyStatus status: Int, host: String, proxy: String?) {
    let proxy = "the proxy \(proxy ?? "")"
    switch status {
    case 407:
      self.init(
        .proxyRefused, "\(proxy) answers 407 instead of leading to \(host); check user and password in https_proxy")
    case 403:
      self.init(
        .proxyRefused, "\(proxy) answers 403 instead of leading to \(host); have it allow this host and port")
    default: self.init(.proxyFailed, "\(proxy) answers \(status) instead of leading to \(host)")
    }
  }

  fileprivate init(curl: CURLcode, detail: String, isUntrusted: Bool, host: String, timeout: Int64, caFile: String?) {
    switch curl {
    case CURLE_COULDNT_RESOLVE_HOST:
      self.init(
        .nameNotResolved, "the name \(host) does not resolve; check the name and this machine's DNS", detail: detail)
    case CURLE_COULDNT_RESOLVE_PROXY:
      self.init(
        .proxyFailed, "the name of the proxy \(ProxyName.current ?? "") does not resolve; check https_proxy",
        detail: detail)
    case CURLE_PROXY:
      self.init(
        .proxyFailed, "the proxy \(ProxyName.current ?? "") does not lead to \(host); check https_proxy", detail: detail
      )
    case CURLE_COULDNT_CONNECT:
      let proxy = ProxyName.current.map { ", or the proxy \($0)" } ?? ""
      self.init(
        .unreachable, "cannot connect to \(host); check the port, the network and the firewall\(proxy)", detail: detail)
    case CURLE_OPERATION_TIMEDOUT:
      self.init(.connectTimedOut, "no connection to \(host) within \(timeout) ms", detail: detail)
    case CURLE_PEER_FAILED_VERIFICATION where isUntrusted:
      self.init(
        .certificateNotTrusted,
        "the certificate of \(host) is not trusted here; check the CA file, the clock, and who answers there",
        detail: detail)
    case CURLE_PEER_FAILED_VERIFICATION:
      self.init(
        .certificateNameMismatch, "the certificate shown at \(host) belongs to another name; check the host name",
        detail: detail)
    case CURLE_SSL_CACERT_BADFILE:
      self.init(
        .unreadableCAFile, "the CA file \(caFile ?? "") cannot be read; it must be certificates in PEM form",
        detail: detail)
    case CURLE_SSL_CONNECT_ERROR:
      self.init(.handshakeFailed, "the TLS handshake with \(host) failed", detail: detail)
    default:
      self.init(.other, "the connection to \(host) failed", detail: detail)
    }
  }
}
