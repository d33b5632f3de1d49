#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The system calls of a server, non-blocking throughout.
enum ServerSocket {
  enum Transfer {
    case bytes(Int)
    case wouldBlock
    case closed
  }

  /// Listens on 127.0.0.1 and says on which port.
  static func listen(port: UInt16, name: String) throws(ServerError) -> (descriptor: Int32, port: UInt16) {
    #if canImport(Glibc)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    guard descriptor >= 0 else { throw ServerError(.resources, "cannot open a socket for \(name): \(reason())") }
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        bind(descriptor, generic, size) == 0 && Self.start(descriptor) && getsockname(descriptor, generic, &size) == 0
      }
    }
    guard isListening, prepare(descriptor) else {
      let reason = reason()
      close(descriptor)
      throw ServerError(.port, "cannot listen for \(name) on 127.0.0.1:\(port): \(reason); choose another port, or 0")
    }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }

  private static func start(_ descriptor: Int32) -> Bool {
    #if canImport(Glibc)
      Glibc.listen(descriptor, 512) == 0
    #elseif canImport(Musl)
      Musl.listen(descriptor, 512) == 0
    #else
      Darwin.listen(descriptor, 512) == 0
    #endif
  }

  enum Acceptance {
    case connection(Int32)
    /// None waits, or it is gone already.
    case nobody
    /// One waits and cannot be taken: descriptors or memory have run out.
    case exhausted
  }

  static func accept(_ listener: Int32) -> Acceptance {
    #if canImport(Glibc)
      let descriptor = Glibc.accept(listener, nil, nil)
    #elseif canImport(Musl)
      let descriptor = Musl.accept(listener, nil, nil)
    #else
      let descriptor = Darwin.accept(listener, nil, nil)
    #endif
    guard descriptor >= 0 else {
      return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) ? .exhausted : .nobody
    }
    var yes: Int32 = 1
    // Answers are gathered here already; waiting for more of them would only add a delayed acknowledgement's 40 ms.
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard prepare(descriptor) else {
      close(descriptor)
      return .nobody
    }
    return .connection(descriptor)
  }

  private static func prepare(_ descriptor: Int32) -> Bool {
    let flags = fcntl(descriptor, F_GETFL)
    return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0
      && fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
  }

  static func read(_ descriptor: Int32, into space: UnsafeMutableRawBufferPointer) -> Transfer {
    while true {
      let count = recv(descriptor, space.baseAddress, space.count, 0)
      if count > 0 { return .bytes(count) }
      if count == 0 { return .closed }
      if errno == EINTR { continue }
      return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .closed
    }
  }

  static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Transfer {
    while true {
      // The server's thread blocks SIGPIPE, so a peer that left is an error and not the end of the process.
      let count = send(descriptor, bytes.baseAddress, bytes.count, 0)
      if count >= 0 { return .bytes(count) }
      if errno == EINTR { continue }
      return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .closed
    }
  }

  /// Says that nothing more will be sent, and goes on reading.
  static func finishWriting(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Closes at once; `abruptly` makes the peer see a reset instead of an end.
  static func end(_ descriptor: Int32, abruptly: Bool = false) {
    if abruptly {
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }
    close(descriptor)
  }

  private static func reason() -> String { String(cString: strerror(errno)) }
}
