import CZonaiNGHTTP2

/// HTTP/2 on one connection, framed by libnghttp2.
final class ServerHTTP2Session: ServerSession {
  /// A stream that is open: first its request comes together, then its answer goes out.
  private final class Stream {
    var request = ServerRequest()
    var bodyCount = 0
    var exchange: ServerExchange?
    var answer: [UInt8] = []
    var sent = 0
    /// Whether the answer never ends.
    var isCut = false
  }

  private unowned let connection: ServerConnection
  private var handle: OpaquePointer?
  private var streams: [Int32: Stream] = [:]
  private var isBroken = false
  /// The last stream that a GOAWAY counted as handled: later ones must not be, even if they arrive before it is sent.
  private var lastHandled = Int32.max

  init(connection: ServerConnection) {
    self.connection = connection
    var callbacks: OpaquePointer?
    guard nghttp2_session_callbacks_new(&callbacks) == 0 else { return }
    defer { nghttp2_session_callbacks_del(callbacks) }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, headersBegan)
    nghttp2_session_callbacks_set_on_header_callback(callbacks, headerArrived)
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, dataArrived)
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frameArrived)
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, streamClosed)
    // Unretained: the session is freed in this object's deinit, so no callback outlives it.
    guard nghttp2_session_server_new(&handle, callbacks, Unmanaged.passUnretained(self).toOpaque()) == 0 else { return }
    var settings = [
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: connection.service.streamLimit),
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: 1 << 20),
    ]
    isBroken =
      nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), &settings, settings.count) != 0
      || nghttp2_session_set_local_window_size(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, 16 << 20) != 0
  }

  deinit { nghttp2_session_del(handle) }

  var isFinished: Bool {
    guard let handle, !isBroken else { return true }
    return nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0
  }

  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let handle else { return false }
    return nghttp2_session_mem_recv(handle, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) >= 0
  }

  func produce(into output: inout [UInt8], limit: Int) {
    guard let handle, !isBroken else { return }
    while output.count < limit {
      var start: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(handle, &start)
      guard count > 0, let start else {
        isBroken = count < 0
        return
      }
      output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
    }
  }

  func respond(_ response: ServerResponse, to exchange: ServerExchange, cutAfter cut: Int?) {
    guard let handle, let stream = streams[exchange.stream], stream.exchange === exchange,
      exchange.stream <= lastHandled
    else { return }
    let hasBody = cut != nil || !response.body.isEmpty && exchange.request.method != "HEAD"
    stream.answer = Array(response.body.prefix(cut ?? response.body.count))
    stream.isCut = cut != nil
    var fields = HTTP2Fields(response)
    let submitted = fields.withPairs { pairs in
      guard hasBody else {
        return nghttp2_submit_response(handle, exchange.stream, pairs.baseAddress, pairs.count, nil)
      }
      var provider = nghttp2_data_provider()
      provider.read_callback = answerIsWanted
      return nghttp2_submit_response(handle, exchange.stream, pairs.baseAddress, pairs.count, &provider)
    }
    if submitted != 0 { isBroken = true }
  }

  func reset(_ exchange: ServerExchange, errorCode: UInt32) -> Bool {
    nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), exchange.stream, errorCode) == 0
  }

  func goAway(lastStream: Int32, errorCode: UInt32, debugData: [UInt8]) -> Bool {
    // A later GOAWAY may take streams back, never add some (RFC 9113, section 6.8).
    lastHandled = min(lastHandled, lastStream)
    return nghttp2_submit_goaway(
      handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastHandled, errorCode, debugData, debugData.count) == 0
  }

  func limitStreams(to limit: UInt32) {
    var setting = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: limit)
    if nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), &setting, 1) != 0 { isBroken = true }
  }

  func abandon() {
    for stream in streams.values { stream.exchange?.isOver = true }
    streams = [:]
    isBroken = true
  }

  // What the callbacks call.

  fileprivate func open(_ id: Int32) { streams[id] = Stream() }

  fileprivate func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, to id: Int32) {
    guard let stream = streams[id] else { return }
    let text = String(decoding: value, as: UTF8.self)
    if name.first == UInt8(ascii: ":") {
      switch String(decoding: name, as: UTF8.self) {
      case ":method": stream.request.method = text
      case ":path": stream.request.target = text
      case ":authority": stream.request.authority = text
      default: break
      }
      return
    }
    let header = ServerHeader(String(decoding: name, as: UTF8.self), text)
    if header.name == "host", stream.request.authority.isEmpty { stream.request.authority = text }
    stream.request.headers.append(header)
  }

  fileprivate func append(_ bytes: UnsafeBufferPointer<UInt8>, to id: Int32) {
    guard let stream = streams[id] else { return }
    stream.bodyCount += bytes.count
    if stream.bodyCount <= connection.service.bodyLimit {
      stream.request.body.append(contentsOf: bytes)
    } else {
      stream.request.body = []
      stream.request.isBodyTooLarge = true
    }
  }

  fileprivate func complete(_ id: Int32) {
    guard id <= lastHandled, let stream = streams[id], stream.exchange == nil else { return }
    let exchange = ServerExchange(request: stream.request, connection: connection, stream: id)
    stream.exchange = exchange
    connection.service.handler(exchange)
  }

  fileprivate func close(_ id: Int32) { streams.removeValue(forKey: id)?.exchange?.isOver = true }

  /// Copies the next piece of an answer; the second value says whether it was the last. nil: it
  /// goes on, but never comes.
  fileprivate func copyAnswer(of id: Int32, into space: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool)? {
    guard let stream = streams[id] else { return (0, true) }
    if stream.isCut, stream.sent == stream.answer.count { return nil }
    let count = min(space.count, stream.answer.count - stream.sent)
    stream.answer.withUnsafeBytes { bytes in
      space.copyBytes(from: bytes[stream.sent..<stream.sent + count])
    }
    stream.sent += count
    return (count, !stream.isCut && stream.sent == stream.answer.count)
  }
}

private func session(_ userData: UnsafeMutableRawPointer?) -> ServerHTTP2Session? {
  userData.map { Unmanaged<ServerHTTP2Session>.fromOpaque($0).takeUnretainedValue() }
}

private func headersBegan(
  _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, userData: UnsafeMutableRawPointer?
) -> Int32 {
  guard let frame, Int(frame.pointee.hd.type) == Int(NGHTTP2_HEADERS.rawValue),
    frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
  else { return 0 }
  session(userData)?.open(frame.pointee.hd.stream_id)
  return 0
}

private func headerArrived(
  _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, name: UnsafePointer<UInt8>?, nameCount: Int,
  value: UnsafePointer<UInt8>?, valueCount: Int, _: UInt8, userData: UnsafeMutableRawPointer?
) -> Int32 {
  // Trailers say nothing that anybody here reads.
  guard let frame, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
  session(userData)?.add(
    UnsafeBufferPointer(start: name, count: nameCount), UnsafeBufferPointer(start: value, count: valueCount),
    to: frame.pointee.hd.stream_id)
  return 0
}

private func dataArrived(
  _: OpaquePointer?, _: UInt8, stream: Int32, bytes: UnsafePointer<UInt8>?, count: Int,
  userData: UnsafeMutableRawPointer?
) -> Int32 {
  session(userData)?.append(UnsafeBufferPointer(start: bytes, count: count), to: stream)
  return 0
}

private func frameArrived(
  _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, userData: UnsafeMutableRawPointer?
) -> Int32 {
  guard let head = frame?.pointee.hd, head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return 0 }
  let type = UInt32(head.type)
  if type == NGHTTP2_DATA.rawValue || type == NGHTTP2_HEADERS.rawValue { session(userData)?.complete(head.stream_id) }
  return 0
}

private func streamClosed(
  _: OpaquePointer?, stream: Int32, _: UInt32, userData: UnsafeMutableRawPointer?
) -> Int32 {
  session(userData)?.close(stream)
  return 0
}

private func answerIsWanted(
  _: OpaquePointer?, stream: Int32, space: UnsafeMutablePointer<UInt8>?, count: Int,
  flags: UnsafeMutablePointer<UInt32>?, _: UnsafeMutablePointer<nghttp2_data_source>?,
  userData: UnsafeMutableRawPointer?
) -> Int {
  guard let session = session(userData) else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
  guard let copied = session.copyAnswer(of: stream, into: UnsafeMutableRawBufferPointer(start: space, count: count))
  else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
  if copied.isLast { flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
  return copied.count
}
