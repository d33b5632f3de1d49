import Testing
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A port on which every connection is taken, counted and ended.
final class Door: Sendable {
  let port: UInt16
  private let descriptor: Int32
  private let knocks = Monitor((count: 0, isOver: false))

  init() throws {
    #if canImport(Glibc)
      let stream = Int32(SOCK_STREAM.rawValue)
    #else
      let stream = SOCK_STREAM
    #endif
    descriptor = socket(AF_INET, stream, 0)
    try #require(descriptor >= 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 && listen(descriptor, 64) == 0
          && getsockname(descriptor, address, &length) == 0
      }
    }
    try #require(isBound)
    port = UInt16(bigEndian: address.sin_port)
    let knocks = knocks
    _ = try NamedThread(name: "door") {
      while true {
        let visitor = accept(descriptor, nil, nil)
        if visitor < 0, errno == EINTR { continue }
        if visitor < 0 { break }
        knocks.change { $0.count += 1 }
        _ = Door.end(visitor)
      }
      knocks.change { $0.isOver = true }
    }
  }

  /// Takes no more; how many there were.
  func close() -> Int {
    shutdown(descriptor, Int32(SHUT_RDWR))
    _ = Door.end(descriptor)
    return knocks.withLock { $0.count }
  }

  private static func end(_ descriptor: Int32) -> Int32 {
    #if canImport(Glibc)
      Glibc.close(descriptor)
    #elseif canImport(Musl)
      Musl.close(descriptor)
    #else
      Darwin.close(descriptor)
    #endif
  }
}
