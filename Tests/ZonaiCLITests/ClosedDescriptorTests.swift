import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Parents that start the command without standard input, output or errors.
struct ClosedDescriptorTests {
  @Test func `a worker without input and output keeps their numbers from its own files`() async throws {
    let scene = try await Scene(devices: 2)
    let worker = try Shell(
      ["-c", "exec \"$0\" \"$@\" <&- >&-", Shell.executable] + scene.workWords, program: "/bin/sh")
    #expect(try await blocking { worker.standardError.waitFor("started with") })
    for descriptor in 0...1 {
      var target = [CChar](repeating: 0, count: 64)
      let count = readlink("/proc/\(worker.pid)/fd/\(descriptor)", &target, 63)
      let path = target.prefix(max(0, count)).map(UInt8.init(bitPattern:))
      #expect(String(decoding: path, as: UTF8.self) == "/dev/null")
    }
    worker.signal(SIGTERM)
    #expect(try await worker.end().code == 0)
  }

  @Test func `results that cannot be delivered are a failure`() async throws {
    let line = "exec \"$0\" classify fcm --status 404 <&- >&- 2>&-"
    let ending = try await Shell(["-c", line, Shell.executable], program: "/bin/sh").end()
    #expect(ending.code == 1)
  }
}
