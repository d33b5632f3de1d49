import CZonaiOpenSSL
import ZonaiHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The other end of the benchmark: a server that costs as little as possible, so that the client is what is measured.
///
/// One thread. It reads frames and never decodes a header block: every request gets the same answer, every `deadEvery`th
/// the service's answer for a dead token. It is no judge of anything; the simulator is.
final class Responder {
  struct Options {
    var port: UInt16 = 0
    /// Every how many requests a dead token is reported; 0 is never.
    var deadEvery = 0
    var maxStreams: UInt32 = 1000
    var isFCM = false
  }

  private let options: Options
  private let context: OpaquePointer
  private let listener: Int32
  private var connections: [Int32: ResponderConnection] = [:]
  let port: UInt16

  init(_ options: Options, identity: ServerIdentity) throws {
    self.options = options
    context = try ResponderTLS.context(identity)
    (listener, port) = try ResponderSocket.listen(port: options.port)
  }

  /// Serves until standard input ends: the benchmark holds the other end, so that no responder outlives it.
  func serve() {
    while true {
      var polled = [
        pollfd(fd: listener, events: Int16(POLLIN), revents: 0), pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
      ]
      for (descriptor, connection) in connections {
        polled.append(pollfd(fd: descriptor, events: connection.wanted, revents: 0))
      }
      guard poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
      if polled[1].revents != 0 {
        var byte: UInt8 = 0
        if read(0, &byte, 1) <= 0 { return }
      }
      if polled[0].revents != 0 { accept() }
      for entry in polled.dropFirst(2) where entry.revents != 0 {
        guard let connection = connections[entry.fd] else { continue }
        if !connection.turn() {
          connection.close()
          connections[entry.fd] = nil
        }
      }
    }
  }

  private func accept() {
    let descriptor = ResponderSocket.accept(listener)
    guard descriptor >= 0 else { return }
    guard let connection = ResponderConnection(descriptor, context: context, answers: ResponderAnswers(options)) else {
      ResponderSocket.close(descriptor)
      return
    }
    connections[descriptor] = connection
  }
}
