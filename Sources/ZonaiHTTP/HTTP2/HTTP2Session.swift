import CZonaiNGHTTP2

/// An nghttp2 client session and the callbacks that lead from it to a connection.
struct HTTP2Session: ~Copyable {
  let handle: OpaquePointer

  /// The connection must outlive the session.
  init(for connection: HTTP2Connection) throws(HTTPFailure) { handle = try makeSession(for: connection) }

  deinit { nghttp2_session_del(handle) }
}

private func makeSession(for connection: HTTP2Connection) throws(HTTPFailure) -> OpaquePointer {
  var callbacks: OpaquePointer?
  var made: OpaquePointer?
  defer { nghttp2_session_callbacks_del(callbacks) }
  guard nghttp2_session_callbacks_new(&callbacks) == 0 else {
    throw HTTPFailure(.other, "there is no memory for an HTTP/2 session")
  }
  nghttp2_session_callbacks_set_on_header_callback(callbacks, receiveField)
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, receiveBody)
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, receiveFrame)
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closeStream)
  let owner = Unmanaged.passUnretained(connection).toOpaque()
  guard nghttp2_session_client_new(&made, callbacks, owner) == 0, let session = made else {
    throw HTTPFailure(.other, "there is no memory for an HTTP/2 session")
  }
  let settings = [nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)]
  guard nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count) == 0 else {
    nghttp2_session_del(session)
    throw HTTPFailure(.other, "nghttp2 does not take our settings")
  }
  return session
}

private func connection(_ owner: UnsafeMutableRawPointer?) -> HTTP2Connection? {
  owner.map { Unmanaged<HTTP2Connection>.fromOpaque($0).takeUnretainedValue() }
}

private func slot(_ session: OpaquePointer?, _ stream: Int32) -> UnsafeMutablePointer<StreamSlot>? {
  nghttp2_session_get_stream_user_data(session, stream)?.assumingMemoryBound(to: StreamSlot.self)
}

private func receiveField(
  _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ name: UnsafePointer<UInt8>?, _ nameLength: Int,
  _ value: UnsafePointer<UInt8>?, _ valueLength: Int, _ flags: UInt8, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
  guard let frame, let slot = slot(session, frame.pointee.hd.stream_id) else { return 0 }
  connection(owner)?.received(
    name: UnsafeRawBufferPointer(start: name, count: nameLength),
    value: UnsafeRawBufferPointer(start: value, count: valueLength), on: slot)
  return 0
}

private func receiveBody(
  _ session: OpaquePointer?, _ flags: UInt8, _ stream: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int,
  _ owner: UnsafeMutableRawPointer?
) -> Int32 {
  guard let slot = slot(session, stream) else { return 0 }
  connection(owner)?.received(body: UnsafeRawBufferPointer(start: bytes, count: count), on: slot)
  return 0
}

private func receiveFrame(
  _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
  guard let frame, let connection = connection(owner) else { return 0 }
  let header = frame.pointee.hd
  switch UInt32(header.type) {
  case NGHTTP2_DATA.rawValue, NGHTTP2_HEADERS.rawValue:
    if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, let slot = slot(session, header.stream_id) {
      connection.receivedEnd(on: slot)
    }
  case NGHTTP2_SETTINGS.rawValue:
    if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 { connection.receivedSettings() }
  case NGHTTP2_PING.rawValue:
    if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 { connection.receivedPong() }
  case NGHTTP2_GOAWAY.rawValue:
    let goAway = frame.pointee.goaway
    let debugData = UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
    connection.received(
      HTTP2GoAway(
        code: goAway.error_code, lastStream: goAway.last_stream_id, debugData: Array(debugData.prefix(4096))))
  default: break
  }
  return 0
}

private func closeStream(
  _ session: OpaquePointer?, _ stream: Int32, _ code: UInt32, _ owner: UnsafeMutableRawPointer?
) -> Int32 {
  guard let slot = slot(session, stream) else { return 0 }
  connection(owner)?.closed(slot, code: code)
  return 0
}

/// Fills a DATA frame with what comes next of a request's body.
func readRequestBody(
  _ session: OpaquePointer?, _ stream: Int32, _ room: UnsafeMutablePointer<UInt8>?, _ count: Int,
  _ flags: UnsafeMutablePointer<UInt32>?, _ source: UnsafeMutablePointer<nghttp2_data_source>?,
  _ owner: UnsafeMutableRawPointer?
) -> Int {
  guard let slot = source?.pointee.ptr?.assumingMemoryBound(to: StreamSlot.self), let connection = connection(owner)
  else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
  let (copied, isEnd) = connection.copyBody(of: slot, to: UnsafeMutableRawBufferPointer(start: room, count: count))
  if isEnd { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
  return copied
}
