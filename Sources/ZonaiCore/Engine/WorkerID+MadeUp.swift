#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension WorkerID {
  /// The given name, or the machine's and the process's, and a random part: one process may have several workers, and
  /// several processes one name.
  static func madeUp(named name: String?) -> WorkerID {
    let random = String(UInt32.random(in: .min ... .max), radix: 16)
    return WorkerID(rawValue: "\(name ?? "\(WorkerStatus.machine)/\(getpid())")/\(random)")
  }
}

extension WorkerStatus {
  /// Of a worker in this process.
  static func here(settled: Int, settledPerSecond: Double) -> WorkerStatus {
    WorkerStatus(host: machine, process: Int(getpid()), settled: settled, settledPerSecond: settledPerSecond)
  }

  fileprivate static var machine: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0, name[0] != 0 else { return "unnamed" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
