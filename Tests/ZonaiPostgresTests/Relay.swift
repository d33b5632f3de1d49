import Synchronization
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A wire between Zonai and a server on this machine, which can be cut or silenced. It reads unencrypted connections only.
final class Relay: Sendable {
  enum Mode: Sendable {
    case pass
    /// Takes everything and passes nothing on.
    case mute
    /// Cuts the connection that says this, once: the server has heard it and answered, nobody hears the answer.
    case cutAfter(String)
    /// Cuts the connection that says this, once, before the server hears it.
    case cutBefore(String)
  }

  let port: String
  private let mode = Mutex(Mode.pass)
  private let cuts = Mutex(0)
  private let listener: Int32
  private let target: UInt16

  init(to target: String) throws {
    guard let number = UInt16(target) else { throw TestFailure("no port: \(target)") }
    self.target = number
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = loopback(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard bound else { throw TestFailure("no port for a relay") }
    self.listener = listener
    port = String(UInt16(bigEndian: address.sin_port))
    _ = try NamedThread(name: "relay") { [weak self] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let self else { return }
        self.serve(client)
      }
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  func set(_ new: Mode) { mode.withLock { $0 = new } }

  /// How many connections it has cut.
  var cutCount: Int { cuts.withLock { $0 } }

  private func serve(_ client: Int32) {
    _ = try? NamedThread(name: "relay wire") { [self] in
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = loopback(target)
      let connected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      if connected == 0 { pump(client, server) }
      close(client)
      close(server)
    }
  }

  private func pump(_ client: Int32, _ server: Int32) {
    var isCutting = false
    while true {
      var ends = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0), pollfd(fd: server, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&ends, 2, -1) > 0 else { return }
      for (index, other) in [(0, server), (1, client)] where ends[index].revents != 0 {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(ends[index].fd, &bytes, bytes.count)
        guard count > 0 else { return }
        if index == 0 {
          switch order(String(decoding: bytes[..<count], as: UTF8.self)) {
          case .cutBefore: return
          case .cutAfter: isCutting = true
          case .mute: continue
          case .pass: break
          }
        } else if isCutting {
          return
        } else if case .mute = mode.withLock({ $0 }) {
          continue
        }
        guard write(other, bytes, count) == count else { return }
      }
    }
  }

  /// What is to be done about what the client says.
  private func order(_ said: String) -> Mode {
    mode.withLock { mode in
      switch mode {
      case .pass, .mute: return mode
      case .cutAfter(let words), .cutBefore(let words):
        guard said.contains(words) else { return .pass }
        defer { mode = .pass }
        cuts.withLock { $0 += 1 }
        return mode
      }
    }
  }
}

private func loopback(_ port: UInt16) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  return address
}
