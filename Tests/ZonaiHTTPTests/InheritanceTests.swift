import Glibc
import Testing
import ZonaiHTTP
import ZonaiThreads

/// What child processes of the application get.
@Suite struct InheritanceTests {
  @Test func `a child that starts while connections are open inherits none of them`() async throws {
    try await withServer(ServerScript(react: { _ in .hold })) { server in
      async let result = server.pool.send(.tokens(0..<2))
      await server.untilHeld(1)
      let ours = sockets(to: server.origin.port)
      #expect(!ours.isEmpty)
      let inherited = try inherited()
      #expect(inherited.isDisjoint(with: ours))
      server.release()
      await server.untilHeld(2)
      server.release()
      #expect(await result.outcomes.allSatisfy { $0 == .answered(200) })
    }
  }

  @Test func `a child inherits no pipe of ours`() throws {
    let pipe = try WakePipe()
    let inherited = try inherited()
    #expect(!inherited.contains(name(of: pipe.descriptor)))
    withExtendedLifetime(pipe) {}
  }

  /// The sockets of this process that are connected to the port, as Linux names them.
  private func sockets(to port: UInt16) -> Set<String> {
    var found: Set<String> = []
    for descriptor in 0..<Int32(4096) {
      var peer = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isConnected = withUnsafeMutablePointer(to: &peer) { peer in
        peer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) == 0 }
      }
      guard isConnected, UInt16(bigEndian: peer.sin_port) == port else { continue }
      found.insert(name(of: descriptor))
    }
    return found
  }

  private func name(of descriptor: Int32) -> String { link("/proc/self/fd/\(descriptor)") }

  private func link(_ path: String) -> String {
    var target = [CChar](repeating: 0, count: 256)
    let count = readlink(path, &target, 255)
    return String(decoding: target.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// What a child process has open.
  private func inherited() throws -> Set<String> {
    let output = "/tmp/zonai-inherited-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    defer { unlink(output) }
    let line = ["/bin/sh", "-c", "ls -l /proc/self/fd | sed 's/.*-> //' > \(output)"]
    var words: [UnsafeMutablePointer<CChar>?] = line.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    try #require(posix_spawn(&child, "/bin/sh", nil, nil, &words, environ) == 0)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    try #require(status == 0)
    let file = try #require(fopen(output, "r"))
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return Set(String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init))
  }
}
