import CZonaiOpenSSL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One connection: bytes in, frames counted, canned answers out.
final class ResponderConnection {
  private let descriptor: Int32
  private let tls: OpaquePointer
  private let answers: ResponderAnswers
  private var inbound: [UInt8] = []
  private var outbound: [UInt8] = []
  private var outboundStart = 0
  private var buffer = [UInt8](repeating: 0, count: 65_536)
  private var isOpen = false
  private var isHTTP2 = false
  private var requests = 0
  private var unacknowledged = 0
  /// What the last TLS call waits for.
  private(set) var wanted = Int16(POLLIN)

  private static let preface = 24

  init?(_ descriptor: Int32, context: OpaquePointer, answers: ResponderAnswers) {
    guard let tls = SSL_new(context), SSL_set_fd(tls, descriptor) == 1 else { return nil }
    self.descriptor = descriptor
    self.tls = tls
    self.answers = answers
    SSL_set_accept_state(tls)
  }

  func close() {
    SSL_free(tls)
    ResponderSocket.close(descriptor)
  }

  /// Reads what is there, answers it in one write. False when the connection is over.
  func turn() -> Bool {
    wanted = Int16(POLLIN)
    if !isOpen {
      guard shakeHands() else { return SSL_get_shutdown(tls) == 0 && wanted != 0 }
    }
    while true {
      let count = buffer.withUnsafeMutableBytes { SSL_read(tls, $0.baseAddress, Int32($0.count)) }
      if count > 0 {
        inbound.append(contentsOf: buffer[0..<Int(count)])
        if isHTTP2 { takeFrames() } else { takeHTTP1() }
        continue
      }
      let error = SSL_get_error(tls, count)
      guard error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE else { return false }
      break
    }
    return flush()
  }

  private func shakeHands() -> Bool {
    let result = SSL_accept(tls)
    guard result == 1 else {
      switch SSL_get_error(tls, result) {
      case SSL_ERROR_WANT_READ: wanted = Int16(POLLIN)
      case SSL_ERROR_WANT_WRITE: wanted = Int16(POLLOUT)
      default: wanted = 0
      }
      return false
    }
    isOpen = true
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    SSL_get0_alpn_selected(tls, &name, &length)
    isHTTP2 = length == 2
    if isHTTP2 {
      // MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE of 1 MiB; then a connection window that never runs out in practice.
      outbound += ResponderAnswers.frame(length: 12, type: 4, flags: 0)
      outbound += [0, 3] + bytes(answers.maxStreams) + [0, 4] + bytes(1 << 20)
      outbound += ResponderAnswers.frame(length: 4, type: 8, flags: 0) + bytes((1 << 31) - 1 - 65_535)
    }
    return true
  }

  private func bytes(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
  }

  private func takeFrames() {
    var at = requests == 0 && inbound.starts(with: Array("PRI".utf8)) ? Self.preface : 0
    guard inbound.count >= at else { return }
    while inbound.count - at >= 9 {
      let length = Int(inbound[at]) << 16 | Int(inbound[at + 1]) << 8 | Int(inbound[at + 2])
      guard inbound.count - at >= 9 + length else { break }
      let (type, flags) = (inbound[at + 3], inbound[at + 4])
      switch type {
      case 0, 1:
        if type == 0 { unacknowledged += length }
        if flags & 1 == 1 { answer(stream: at + 5) }
      case 4 where flags & 1 == 0:
        outbound += ResponderAnswers.frame(length: 0, type: 4, flags: 1)
      case 6 where flags & 1 == 0:
        outbound += ResponderAnswers.frame(length: 8, type: 6, flags: 1) + inbound[at + 9..<at + 17]
      default:
        break
      }
      at += 9 + length
    }
    inbound.removeFirst(at)
    if unacknowledged > 1 << 29 {
      outbound += ResponderAnswers.frame(length: 4, type: 8, flags: 0) + bytes(UInt32(unacknowledged))
      unacknowledged = 0
    }
  }

  private func answer(stream: Int) {
    requests += 1
    let isDead = answers.deadEvery > 0 && requests.isMultiple(of: answers.deadEvery)
    let start = outbound.count
    outbound += isDead ? answers.dead : answers.accepted
    for hole in isDead ? answers.deadHoles : answers.acceptedHoles {
      for offset in 0..<4 { outbound[start + hole + offset] = inbound[stream + offset] }
    }
  }

  /// Whatever was asked, once the request's head and body are there.
  private func takeHTTP1() {
    guard let end = headEnd() else { return }
    let head = String(decoding: inbound[..<end], as: UTF8.self).lowercased()
    let length =
      head.split(whereSeparator: \.isNewline).first { $0.hasPrefix("content-length:") }
      .flatMap { Int(String($0.dropFirst(15).filter(\.isNumber))) } ?? 0
    guard inbound.count - end >= length else { return }
    inbound = []
    outbound += answers.overHTTP1
  }

  private func headEnd() -> Int? {
    guard inbound.count >= 4 else { return nil }
    let blank: [UInt8] = [13, 10, 13, 10]
    return (4...inbound.count).first { inbound[$0 - 4..<$0].elementsEqual(blank) }
  }

  private func flush() -> Bool {
    while outboundStart < outbound.count {
      let written = outbound.withUnsafeBytes { bytes in
        SSL_write(tls, bytes.baseAddress.map { $0 + outboundStart }, Int32(min(bytes.count - outboundStart, 1 << 20)))
      }
      guard written > 0 else {
        let error = SSL_get_error(tls, written)
        guard error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_READ else { return false }
        wanted = Int16(POLLIN | POLLOUT)
        return true
      }
      outboundStart += Int(written)
    }
    outbound.removeAll(keepingCapacity: true)
    outboundStart = 0
    return true
  }
}
