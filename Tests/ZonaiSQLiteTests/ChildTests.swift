import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Tests that start processes, one after the other: Swift Testing makes a pipe inheritable while it starts one, and a child
/// that is started meanwhile would keep it open.
@Suite(.serialized, .timeLimit(.minutes(3))) enum ChildTests {
  /// Called by the child first: one that hangs is killed, and its test fails.
  static func limitLife() { alarm(90) }
}
