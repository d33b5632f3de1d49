#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#else
  import Darwin
#endif

do {
  if let word = CommandLine.arguments.dropFirst().first, let kind = StoreOptions.Kind(rawValue: word) {
    let options = try StoreOptions(kind, CommandLine.arguments.dropFirst(2))
    switch kind {
    case .fill: try await TableFill.run(options)
    case .store:
      print(try await options.by == .hand ? HandStart.run(options).line(options) : StoreRun.run(options).line(options))
    case .push: print(try await Stores.enqueue(in: try Stores.open(options)).id)
    case .worker: print(try await WorkerRun.run(options))
    case .locks: print(try LockWatch.run(options))
    }
  } else {
    let options = try Options(CommandLine.arguments.dropFirst())
    let report = try await options.kind == .job ? JobRun.run(options) : TransportRun.run(options)
    print(report.line)
  }
} catch {
  fputs("zonai-benchmark: \(error)\n", stderr)
  exit(error is Options.Mistake ? 2 : 1)
}
