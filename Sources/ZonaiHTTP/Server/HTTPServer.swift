import Synchronization
import ZonaiThreads

/// An HTTP server on 127.0.0.1: several services, each with its port, on one thread and one event loop.
///
/// Made for simulators and tests: handlers can answer late, wrongly or never. It is no server for the open internet;
/// it has no limit on slow clients beyond the handshake.
public final class HTTPServer: Sendable {
  private enum Life {
    case bound
    case running(NamedThread)
    case stopped
  }

  /// The ports, in the order of the services.
  public let ports: [UInt16]
  private let listeners: [ServerLoop.Listener]
  private let mailbox: ServerMailbox
  private let life = Mutex(Life.bound)

  /// Takes the ports, so that they are known and connections wait; `start` begins to serve.
  public init(_ services: [ServerService]) throws {
    var listeners: [ServerLoop.Listener] = []
    do {
      mailbox = try ServerMailbox()
      for service in services {
        let tls = try service.identity.map { try ServerTLS($0, protocols: service.protocols) }
        let socket = try ServerSocket.listen(port: service.port, name: service.name)
        listeners.append(.init(service: service, tls: tls, descriptor: socket.descriptor, port: socket.port))
      }
    } catch {
      for listener in listeners { ServerSocket.end(listener.descriptor) }
      throw error
    }
    self.listeners = listeners
    ports = listeners.map(\.port)
  }

  deinit {
    switch life.withLock({ $0 }) {
    case .bound: for listener in listeners { ServerSocket.end(listener.descriptor) }
    case .running: mailbox.stop(nil)
    case .stopped: break
    }
  }

  /// Starts the thread. A second call does nothing.
  public func start() throws {
    try life.withLock { life in
      guard case .bound = life else { return }
      let (listeners, mailbox) = (listeners, mailbox)
      life = .running(
        try NamedThread(name: "zonai-server") {
          ServerLoop(listeners: listeners, mailbox: mailbox).run()
          mailbox.close()
        })
    }
  }

  /// Runs work on the server's thread, where connections and exchanges may be touched; before `start` it waits for it.
  /// False, and not run, when the server was stopped.
  public func perform(_ work: @escaping @Sendable () -> Void) -> Bool { mailbox.post(work) }

  /// Sends what is ready, closes every connection and port, and returns when that is done.
  public func stop() async {
    let last = life.withLock { life in
      defer { life = .stopped }
      return life
    }
    switch last {
    case .bound:
      for listener in listeners { ServerSocket.end(listener.descriptor) }
      mailbox.close()
    case .running, .stopped: await withCheckedContinuation { mailbox.stop($0) }
    }
  }
}
