#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// How long the fuzz test runs: a few thousand predicates, unless the environment says otherwise
/// (`Scripts/test --long`).
package enum FuzzLength {
  /// `ZONAI_FUZZ_PREDICATES`.
  package static var predicates: Int { number("ZONAI_FUZZ_PREDICATES") ?? 3000 }
  /// `ZONAI_FUZZ_SEED`: the one that a failure names, to replay it.
  package static var seed: UInt64 { number("ZONAI_FUZZ_SEED").map { UInt64($0) } ?? 1 }

  private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }
}
