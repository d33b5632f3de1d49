#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension WorkerID {
  /// The machine's name, the process, and a random part, since one process may have several workers.
  static func madeUp() -> String {
    var name = [CChar](repeating: 0, count: 256)
    let isNamed = gethostname(&name, name.count - 1) == 0
    let host = isNamed ? String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
    let random = String(UInt32.random(in: .min ... .max), radix: 16)
    return "\(host.isEmpty ? "unnamed" : host)/\(getpid())/\(random)"
  }
}
