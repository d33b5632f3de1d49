import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One GET to the simulator's control, which is plain HTTP on this machine; for anything else use the transports' connections.
enum PlainHTTP {
  struct Answer: Sendable {
    var status: Int
    var body: [UInt8]
  }

  /// Why there was no answer, as a clause.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// `url` is `http://ADDRESS:PORT/PATH` with an IPv4 address. Waits five seconds at most for each piece.
  static func get(_ url: String) async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      do {
        _ = try NamedThread(name: "zonai-control") {
          continuation.resume(with: Result { try Target(url).get() })
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  private struct Target {
    let address: String
    let port: UInt16
    let path: String

    init(_ url: String) throws(Failure) {
      let rest = url.dropFirst("http://".count)
      let authority = rest.prefix { $0 != "/" }.split(separator: ":", omittingEmptySubsequences: false)
      guard url.hasPrefix("http://"), authority.count == 2, let port = UInt16(authority[1]) else {
        throw Failure(description: "'\(url)' is no such address")
      }
      address = String(authority[0])
      self.port = port
      path = String(rest.drop { $0 != "/" })
    }

    /// Blocks.
    func get() throws(Failure) -> Answer {
      #if canImport(Darwin)
        let stream = SOCK_STREAM
      #elseif canImport(Musl)
        let stream = SOCK_STREAM
      #else
        let stream = Int32(SOCK_STREAM.rawValue)
      #endif
      let descriptor = socket(AF_INET, stream, 0)
      guard descriptor >= 0 else { throw problem() }
      defer { close(descriptor) }
      var limit = timeval(tv_sec: 5, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      place.sin_port = port.bigEndian
      guard inet_pton(AF_INET, address, &place.sin_addr) == 1 else {
        throw Failure(description: "'\(address)' is no IPv4 address")
      }
      let connected = withUnsafeBytes(of: &place) { bytes in
        connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
      }
      guard connected == 0 else { throw problem() }
      let request = Array("GET \(path) HTTP/1.1\r\nHost: \(address):\(port)\r\nConnection: close\r\n\r\n".utf8)
      guard send(descriptor, request, request.count, 0) == request.count else { throw problem() }
      guard let answer = TextFile.read(descriptor: descriptor) else { throw problem() }
      return try parse(answer)
    }

    private func parse(_ answer: [UInt8]) throws(Failure) -> Answer {
      let end = Array("\r\n\r\n".utf8)
      let line = String(decoding: answer.prefix { $0 != 0x0D }, as: UTF8.self).split(separator: " ")
      guard line.count >= 2, line[0].hasPrefix("HTTP/1."), let status = Int(line[1]),
        let head = answer.indices.first(where: { answer[$0...].starts(with: end) })
      else { throw Failure(description: "the answer is no HTTP") }
      return Answer(status: status, body: Array(answer[(head + end.count)...]))
    }

    private func problem() -> Failure { Failure(description: String(cString: strerror(errno))) }
  }
}
