import Glibc
import Testing
import ZonaiThreads

/// Plain HTTP/1.1 on loopback: gives every connection the same answer, and keeps what it was sent.
final class PlainServer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let seen = Monitor<[String]>([])
  private let thread: NamedThread

  init(answer: String) throws {
    let (listener, port) = try listenOnLoopback()
    self.listener = listener
    self.port = port
    let seen = seen
    thread = try NamedThread(name: "test-plain") {
      while true {
        let socket = accept(listener, nil, nil)
        guard socket >= 0 else { break }
        let text = readRequest(socket)
        seen.change { $0.append(text) }
        _ = answer.withCString { send(socket, $0, strlen($0), 0) }
        Glibc.close(socket)
      }
      Glibc.close(listener)
    }
  }

  var requests: [String] { seen.withLock { $0 } }

  func close() {
    shutdown(listener, Int32(SHUT_RDWR))
    thread.join()
  }
}

/// A listening socket on 127.0.0.1 and its port.
func listenOnLoopback() throws -> (socket: Int32, port: UInt16) {
  let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isBound = withUnsafeMutablePointer(to: &address) { address in
    address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
      bind(listener, address, length) == 0 && listen(listener, 128) == 0 && getsockname(listener, address, &length) == 0
    }
  }
  try #require(isBound)
  return (listener, UInt16(bigEndian: address.sin_port))
}

/// Reads head and body; the body is as long as content-length says.
private func readRequest(_ socket: Int32) -> String {
  var text = ""
  var buffer = [UInt8](repeating: 0, count: 4096)
  while true {
    if let end = text.firstRange(of: "\r\n\r\n") {
      let line = text[..<end.lowerBound].split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
      let expected = line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
      if text[end.upperBound...].utf8.count >= expected { return text }
    }
    let count = recv(socket, &buffer, buffer.count, 0)
    if count <= 0 { return text }
    text += String(decoding: buffer[0..<count], as: UTF8.self)
  }
}
