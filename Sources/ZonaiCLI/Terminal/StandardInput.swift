import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Standard input, read whole on a thread of its own: somebody may be typing it.
enum StandardInput {
  static func read() async throws -> [UInt8] {
    try await withCheckedThrowingContinuation { continuation in
      do {
        _ = try NamedThread(name: "zonai-stdin") {
          if let bytes = TextFile.read(descriptor: 0) {
            continuation.resume(returning: bytes)
          } else {
            let clause = String(cString: strerror(errno))
            continuation.resume(throwing: CommandFailure.usage("cannot read standard input: \(clause)"))
          }
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }
}
