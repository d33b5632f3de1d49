import Glibc
import Testing
import ZonaiThreads

/// An HTTP proxy on loopback that leads known hosts to ports of this machine.
final class ConnectProxy: Sendable {
  struct Seen {
    var connects: [String] = []
    var authorizations: Set<String> = []
  }

  let port: UInt16
  private let listener: Int32
  private let seen = Monitor(Seen())
  private let thread: NamedThread

  /// `routes` maps "host:port" to a port of this machine. `refusal` gives the status that the
  /// connect of this number, counted from 0, is answered with; nil leads it to its host.
  init(routes: [String: UInt16], refusal: @escaping @Sendable (Int) -> Int? = { _ in nil }) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = ConnectProxy.loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 128) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    try #require(isBound)
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    let seen = seen
    thread = try NamedThread(name: "test-proxy") {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { break }
        _ = try? NamedThread(name: "test-tunnel") {
          ConnectProxy.serve(client, routes, refusal, seen)
          close(client)
        }
      }
      close(listener)
    }
  }

  var connects: [String] { seen.withLock { $0.connects } }
  var authorizations: Set<String> { seen.withLock { $0.authorizations } }

  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    thread.join()
  }

  private static func serve(
    _ client: Int32, _ routes: [String: UInt16], _ refusal: (Int) -> Int?, _ seen: Monitor<Seen>
  ) {
    var head = ""
    var byte: UInt8 = 0
    while !head.hasSuffix("\r\n\r\n"), recv(client, &byte, 1, 0) == 1 {
      head.unicodeScalars.append(Unicode.Scalar(byte))
    }
    let lines = head.split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count == 3, words[0] == "CONNECT" else { return }
    let target = String(words[1])
    let number = seen.change { seen in
      seen.connects.append(target)
      for line in lines where line.lowercased().hasPrefix("proxy-authorization:") {
        seen.authorizations.insert(String(line.drop { $0 != " " }.dropFirst()))
      }
      return seen.connects.count - 1
    }
    if let status = refusal(number) { return say(client, "HTTP/1.1 \(status) no\r\ncontent-length: 0\r\n\r\n") }
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(server) }
    guard let port = routes[target] else { return say(client, "HTTP/1.1 404 no\r\ncontent-length: 0\r\n\r\n") }
    var address = loopback(port)
    let isConnected = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else { return say(client, "HTTP/1.1 502 no\r\ncontent-length: 0\r\n\r\n") }
    say(client, "HTTP/1.1 200 ok\r\n\r\n")
    var ends = [
      pollfd(fd: client, events: Int16(POLLIN), revents: 0), pollfd(fd: server, events: Int16(POLLIN), revents: 0),
    ]
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while poll(&ends, 2, -1) > 0 {
      for (index, end) in ends.enumerated() where end.revents != 0 {
        let count = recv(end.fd, &buffer, buffer.count, 0)
        guard count > 0, send(ends[1 - index].fd, buffer, count, Int32(MSG_NOSIGNAL)) == count else { return }
      }
    }
  }

  private static func say(_ client: Int32, _ text: String) {
    _ = text.withCString { send(client, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }
}
