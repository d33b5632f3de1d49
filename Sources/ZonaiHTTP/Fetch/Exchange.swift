import CZonaiCurl
import Synchronization
import ZonaiThreads

/// One request and its answer, on a thread that lives as long as they do.
final class Exchange: Sendable {
  private let request: HTTPRequest
  private let isCancelled = Atomic<Bool>(false)

  init(_ request: HTTPRequest) { self.request = request }

  func cancel() { isCancelled.store(true, ordering: .releasing) }

  func result() async -> Result<HTTPResponse, HTTPFailure> {
    await withCheckedContinuation { continuation in
      do throws(ThreadStartError) {
        _ = try NamedThread(name: "zonai-fetch") { [self] in
          do throws(HTTPFailure) {
            continuation.resume(returning: .success(try perform()))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }
      } catch {
        continuation.resume(returning: .failure(HTTPFailure(.other, "\(error)")))
      }
    }
  }

  private func perform() throws(HTTPFailure) -> HTTPResponse {
    let address = try HTTPAddress(request.url)
    if request.fields.contains(where: { !$0.isPrintable }) || !HTTPField("x", request.method).isPrintable {
      throw HTTPFailure(.malformedRequest, "a header field of the request to \(address.host) has a line break in it")
    }
    let handle = try CurlHandle()
    try handle.prepare(
      connectTimeout: request.connectTimeout, caFile: request.caFile, usesProxy: !address.isLoopback)
    try handle.set(CURLOPT_URL, request.url)
    try handle.set(CURLOPT_TIMEOUT_MS, Int(request.timeout))
    try handle.set(CURLOPT_FOLLOWLOCATION, 0)
    try handle.set(CURLOPT_CUSTOMREQUEST, request.method)
    if request.method == "HEAD" { try handle.set(CURLOPT_NOBODY, 1) }

    let collected = CollectedAnswer(
      limit: request.maxAnswerBytes,
      isCancelled: { [self] in
        isCancelled.load(ordering: .acquiring)
      })
    let owner = Unmanaged.passUnretained(collected).toOpaque()
    try handle.check(zonai_curl_set_header_receiver(handle.easy, receiveFieldLine, owner))
    try handle.check(zonai_curl_set_body_receiver(handle.easy, receiveBodyPart, owner))
    try handle.check(zonai_curl_set_progress(handle.easy, reportProgress, owner))

    // An empty Expect keeps libcurl from waiting for a "100 Continue" that few servers send.
    var lines = curl_slist_append(nil, "Expect:")
    defer { curl_slist_free_all(lines) }
    for field in request.fields {
      lines = curl_slist_append(lines, field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    try handle.check(zonai_curl_set_pointer(handle.easy, CURLOPT_HTTPHEADER, lines))

    let code = try withBody(handle) { curl_easy_perform(handle.easy) }
    return try withExtendedLifetime(collected) { () throws(HTTPFailure) in
      if collected.isTooLarge {
        throw HTTPFailure(
          .answerTooLarge, "the answer of \(address.host) is larger than \(request.maxAnswerBytes) bytes")
      }
      if isCancelled.load(ordering: .acquiring) && code != CURLE_OK {
        throw HTTPFailure(.cancelled, "the request to \(address.host) was cancelled")
      }
      guard code == CURLE_OK else { throw failure(code, handle, address.host) }
      var status = 0
      try handle.check(zonai_curl_get_long(handle.easy, CURLINFO_RESPONSE_CODE, &status))
      return HTTPResponse(status: status, fields: collected.fields, body: collected.body)
    }
  }

  private func withBody(
    _ handle: borrowing CurlHandle, _ perform: () -> CURLcode
  ) throws(HTTPFailure) -> CURLcode {
    guard let body = request.body else { return perform() }
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, body.count))
    defer { copy.deallocate() }
    _ = copy.update(fromContentsOf: body)
    try handle.check(zonai_curl_set_large(handle.easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
    try handle.check(zonai_curl_set_pointer(handle.easy, CURLOPT_POSTFIELDS, copy.baseAddress))
    try handle.set(CURLOPT_CUSTOMREQUEST, request.method)
    return perform()
  }

  private func failure(_ code: CURLcode, _ handle: borrowing CurlHandle, _ host: String) -> HTTPFailure {
    var connected = 0
    let isConnected = zonai_curl_get_long(handle.easy, CURLINFO_NUM_CONNECTS, &connected) == CURLE_OK && connected > 0
    if code == CURLE_OPERATION_TIMEDOUT && isConnected {
      return HTTPFailure(.timedOut, "no whole answer from \(host) within \(request.timeout) ms")
    }
    return handle.failure(
      code, host: host, timeout: min(request.connectTimeout, request.timeout), caFile: request.caFile)
  }
}

extension HTTPField {
  fileprivate var isPrintable: Bool { (name + value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } && !name.isEmpty }
}

/// What comes in of an answer. Touched only by the thread of its exchange.
private final class CollectedAnswer {
  private(set) var fields: [HTTPField] = []
  private(set) var body: [UInt8] = []
  private(set) var isTooLarge = false
  let isCancelled: () -> Bool
  private let limit: Int

  init(limit: Int, isCancelled: @escaping () -> Bool) {
    self.limit = limit
    self.isCancelled = isCancelled
  }

  func add(line: UnsafeRawBufferPointer) {
    let text = String(decoding: line, as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      // A status line begins anew: what came before was a proxy's or an interim answer.
      fields = []
      return
    }
    guard let colon = text.firstIndex(of: ":") else { return }
    let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
    let end = value.lastIndex { !$0.isWhitespace }
    fields.append(HTTPField(text[..<colon].lowercased(), end.map { String(value[...$0]) } ?? ""))
  }

  func add(body part: UnsafeRawBufferPointer) -> Bool {
    guard body.count + part.count <= limit else {
      isTooLarge = true
      return false
    }
    body.append(contentsOf: part)
    return true
  }
}

private func collected(_ owner: UnsafeMutableRawPointer?) -> CollectedAnswer? {
  owner.map { Unmanaged<CollectedAnswer>.fromOpaque($0).takeUnretainedValue() }
}

private func receiveFieldLine(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ owner: UnsafeMutableRawPointer?
) -> Int {
  collected(owner)?.add(line: UnsafeRawBufferPointer(start: bytes, count: size * count))
  return size * count
}

private func receiveBodyPart(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ owner: UnsafeMutableRawPointer?
) -> Int {
  let isTaken = collected(owner)?.add(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? false
  return isTaken ? size * count : 0
}

private func reportProgress(
  _ owner: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> Int32 { collected(owner)?.isCancelled() == true ? 1 : 0 }
