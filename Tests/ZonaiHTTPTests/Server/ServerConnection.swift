import CZonaiNGHTTP2
import CZonaiOpenSSL
import Glibc
import ZonaiThreads

/// The server's end of one connection, on a thread of its own.
final class ServerConnection {
  private let number: Int
  private let socket: Int32
  private let script: ServerScript
  private let server: TestServer
  private let ssl: OpaquePointer
  private var session: OpaquePointer?
  private var requests: [Int32: ServedRequest] = [:]
  private var answers: [Int32: [UInt8]] = [:]
  /// Streams whose answer stays without an end.
  private var unending: Set<Int32> = []
  private var held: [Int32] = []
  private var count = 0
  private var isDropped = false
  private var isFrozen = false
  private var openStreams = 0

  init(number: Int, socket: Int32, ssl: OpaquePointer, script: ServerScript, server: TestServer) {
    self.number = number
    self.socket = socket
    self.ssl = ssl
    self.script = script
    self.server = server
  }

  func run(wakePipe: WakePipe) {
    serve(wakePipe)
    nghttp2_session_del(session)
    SSL_free(ssl)
    Glibc.close(socket)
  }

  private func serve(_ wakePipe: WakePipe) {
    if script.welcome == .closes { return }
    if script.welcome == .isMute { return waitForEnd(wakePipe) }
    guard handshake(wakePipe), script.welcome != .closesAfterHandshake else { return }
    if script.welcome == .noALPN { return waitForEnd(wakePipe) }
    openSession()
    while !isDropped && flush() && pause(wakePipe) {
      for _ in 0..<server.takeReleases(of: number) { releaseHeld() }
      for _ in 0..<server.takePoliteEnds(of: number) {
        nghttp2_submit_goaway(session, 0, Int32.max, 0, nil, 0)
      }
      if !read() { return }
      if isFrozen {
        _ = flush()
        return waitForEnd(wakePipe)
      }
      if nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 { return }
    }
  }

  private func pause(_ wakePipe: WakePipe) -> Bool {
    var entries = [
      pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
      pollfd(fd: wakePipe.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    if SSL_has_pending(ssl) == 0 { poll(&entries, 2, -1) }
    wakePipe.drain()
    return !server.isClosing
  }

  private func waitForEnd(_ wakePipe: WakePipe) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while pause(wakePipe) {
      if recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT)) == 0 { return }
    }
  }

  private func handshake(_ wakePipe: WakePipe) -> Bool {
    while true {
      let result = SSL_accept(ssl)
      if result == 1 { return true }
      guard SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ, pause(wakePipe) else { return false }
    }
  }

  private func read() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = SSL_read(ssl, &buffer, Int32(buffer.count))
      if count <= 0 { return SSL_get_error(ssl, count) == SSL_ERROR_WANT_READ }
      if nghttp2_session_mem_recv(session, buffer, Int(count)) < 0 { return false }
      if isDropped {
        _ = flush()
        return false
      }
    }
  }

  private func flush() -> Bool {
    var output: [UInt8] = []
    while true {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &bytes)
      if count <= 0 { break }
      output += UnsafeBufferPointer(start: bytes, count: count)
    }
    var sent = 0
    while sent < output.count {
      let count = output.withUnsafeBufferPointer { bytes -> Int32 in
        SSL_write(ssl, bytes.baseAddress.map { $0 + sent }, Int32(output.count - sent))
      }
      if count > 0 {
        sent += Int(count)
      } else {
        guard SSL_get_error(ssl, count) == SSL_ERROR_WANT_WRITE else { return false }
        var entry = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        poll(&entry, 1, -1)
      }
    }
    return true
  }

  // MARK: HTTP/2

  private func openSession() {
    var callbacks: OpaquePointer?
    nghttp2_session_callbacks_new(&callbacks)
    defer { nghttp2_session_callbacks_del(callbacks) }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, owner in
      if let frame { this(owner)?.began(frame.pointee.hd.stream_id) }
      return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      _, frame, name, nameLength, value, valueLength, _, owner in
      let name = String(decoding: UnsafeBufferPointer(start: name, count: nameLength), as: UTF8.self)
      let value = String(decoding: UnsafeBufferPointer(start: value, count: valueLength), as: UTF8.self)
      if let frame { this(owner)?.requests[frame.pointee.hd.stream_id]?.fields[name] = value }
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, owner in
      this(owner)?.requests[stream]?.body += UnsafeBufferPointer(start: bytes, count: count)
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, owner in
      guard let frame else { return 0 }
      let header = frame.pointee.hd
      if UInt32(header.type) == NGHTTP2_PING.rawValue { this(owner)?.pinged() }
      if UInt32(header.type) == NGHTTP2_GOAWAY.rawValue { this(owner)?.server.sawGoAway() }
      if UInt32(header.type) == NGHTTP2_HEADERS.rawValue { this(owner)?.beganBody(header.stream_id) }
      let isRequest = UInt32(header.type) <= NGHTTP2_HEADERS.rawValue
      if isRequest && header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
        this(owner)?.completed(header.stream_id)
      }
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, owner in
      this(owner)?.closed(stream, code)
      return 0
    }
    nghttp2_session_server_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque())
    var settings = [
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: script.window)
    ]
    if let limit = script.streamLimit {
      settings.append(
        nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: limit))
    }
    nghttp2_submit_settings(session, 0, settings, settings.count)
  }

  private func began(_ stream: Int32) {
    openStreams += 1
    requests[stream] = ServedRequest(
      connection: number, number: count, stream: stream, openStreams: openStreams, path: "", fields: [:], body: [])
    count += 1
  }

  private func pinged() {
    server.sawPing()
    react(script.reactToPing, to: 0)
  }

  private func closed(_ stream: Int32, _ code: UInt32) {
    if code == Reaction.cancelled && script.releasesOnReset { releaseHeld() }
    requests[stream] = nil
    answers[stream] = nil
    openStreams -= 1
  }

  private func beganBody(_ stream: Int32) {
    if let request = requests[stream] { react(script.reactToHead(request), to: stream) }
  }

  private func completed(_ stream: Int32) {
    guard var request = requests[stream] else { return }
    request.path = request.fields[":path"] ?? ""
    server.record(request)
    react(script.react(request), to: stream)
  }

  private func react(_ reaction: Reaction, to stream: Int32) {
    switch reaction {
    case .answer(let status, let fields, let body): answer(stream, status, fields, body)
    case .begin(let status, let body):
      unending.insert(stream)
      answer(stream, status, [:], body)
    case .reset(let code): nghttp2_submit_rst_stream(session, 0, stream, code)
    case .silence: break
    case .hold:
      held.append(stream)
      server.sawHeld()
    case .goAway(let last, let code, let debugData):
      nghttp2_submit_goaway(session, 0, last, code, Array(debugData.utf8), debugData.utf8.count)
    case .allow(let limit):
      let settings = [
        nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: limit)
      ]
      nghttp2_submit_settings(session, 0, settings, settings.count)
    case .drop: isDropped = true
    case .freeze: isFrozen = true
    case .sequence(let reactions): for reaction in reactions { react(reaction, to: stream) }
    }
  }

  private func releaseHeld() {
    let streams = held
    held = []
    for stream in streams { answer(stream, 200, [:], "") }
  }

  private func answer(_ stream: Int32, _ status: Int, _ fields: [String: String], _ body: String) {
    let all = [(":status", "\(status)")] + fields.map { ($0.key, $0.value) }
    let bytes = all.map { (Array($0.0.utf8), Array($0.1.utf8)) }
    answers[stream] = Array(body.utf8)
    withExtendedLifetime(bytes) {
      var values: [nghttp2_nv] = []
      for (name, value) in bytes {
        let copies = [name, value].map { source -> UnsafeMutablePointer<UInt8> in
          let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, source.count))
          copy.update(from: source, count: source.count)
          return copy
        }
        values.append(
          nghttp2_nv(name: copies[0], value: copies[1], namelen: name.count, valuelen: value.count, flags: 0))
      }
      var provider = nghttp2_data_provider()
      provider.read_callback = { _, stream, room, count, flags, _, owner in
        guard let answer = this(owner)?.answers[stream] else { return 0 }
        let part = answer.prefix(count)
        room?.update(from: Array(part), count: part.count)
        this(owner)?.answers[stream] = Array(answer.dropFirst(part.count))
        if this(owner)?.unending.contains(stream) == true {
          return part.isEmpty ? Int(NGHTTP2_ERR_DEFERRED.rawValue) : part.count
        }
        if part.count == answer.count { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return part.count
      }
      if body.isEmpty && !unending.contains(stream) {
        nghttp2_submit_response(session, stream, values, values.count, nil)
      } else {
        nghttp2_submit_response(session, stream, values, values.count, &provider)
      }
      for value in values {
        value.name.deallocate()
        value.value.deallocate()
      }
    }
  }
}

private func this(_ owner: UnsafeMutableRawPointer?) -> ServerConnection? {
  owner.map { Unmanaged<ServerConnection>.fromOpaque($0).takeUnretainedValue() }
}
