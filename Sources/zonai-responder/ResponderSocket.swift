#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

struct ResponderError: Error, CustomStringConvertible {
  let description: String
}

/// Loopback sockets.
enum ResponderSocket {
  static func listen(port: UInt16) throws -> (descriptor: Int32, port: UInt16) {
    #if canImport(Glibc)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    guard descriptor >= 0 else { throw ResponderError(description: "cannot make a socket: errno \(errno)") }
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        bind(descriptor, raw, length) == 0 && getsockname(descriptor, raw, &length) == 0
      }
    }
    guard bound, CLibrary.listen(descriptor, 128) == 0 else {
      throw ResponderError(description: "cannot listen on 127.0.0.1:\(port): errno \(errno)")
    }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }

  static func accept(_ listener: Int32) -> Int32 {
    let descriptor = CLibrary.accept(listener)
    guard descriptor >= 0 else { return -1 }
    var yes: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    return descriptor
  }

  static func close(_ descriptor: Int32) { CLibrary.close(descriptor) }
}

/// The C library's calls whose names this file's own functions shadow.
private enum CLibrary {
  static func listen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { systemListen(descriptor, backlog) }
  static func accept(_ descriptor: Int32) -> Int32 { systemAccept(descriptor, nil, nil) }
  static func close(_ descriptor: Int32) { _ = systemClose(descriptor) }
}

#if canImport(Glibc)
  private let systemListen = Glibc.listen
  private let systemAccept = Glibc.accept
  private let systemClose = Glibc.close
#elseif canImport(Musl)
  private let systemListen = Musl.listen
  private let systemAccept = Musl.accept
  private let systemClose = Musl.close
#else
  private let systemListen = Darwin.listen
  private let systemAccept = Darwin.accept
  private let systemClose = Darwin.close
#endif
