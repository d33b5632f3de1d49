#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#else
  import Darwin
#endif

do {
  let options = try Options(CommandLine.arguments.dropFirst())
  let report = try await options.kind == .job ? JobRun.run(options) : TransportRun.run(options)
  print(report.line)
} catch {
  fputs("zonai-benchmark: \(error)\n", stderr)
  exit(error is Options.Mistake ? 2 : 1)
}
