#if os(Linux)
  import Testing
  import ZonaiThreads

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// An embedder that uses nothing but the core pays for nothing but the standard library.
  @Suite(.timeLimit(.minutes(5)))
  struct FoundationFreeTests {
    static let client = """
      import ZonaiCore

      func send(_ store: any TokenStore & JobStore, _ lane: any Transport) async throws {
        let zonai = try Zonai(store: store, transports: [lane], onPushRejected: { _ in .keep })
        let job = try await zonai.push(PushMessage(title: "Hello"), to: Audience("devices", token: "token"))
        _ = try await zonai.run(only: job.id)
      }
      try ZonaiOptions().validate()
      print("works")
      """

    @Test func `a client of the core links no Foundation`() async throws {
      let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
      let build = try #require(ownFolder())
      let folder = try await output(of: "mktemp -d").trimmed
      let script = """
        set -e
        cat > '\(folder)/main.swift' <<'SWIFT'
        \(Self.client)
        SWIFT
        # By the list of sources: a file that was renamed or removed leaves its old object behind.
        objects() { sed "s|.*/||; s|^|\(build)/$1.build/|; s|$|.o|" "\(build)/$1.build/sources"; }
        objects ZonaiCore > '\(folder)/objects'
        objects ZonaiThreads >> '\(folder)/objects'
        # Sanitizers and coverage leave symbols in the objects that only their own link knows.
        swiftc -swift-version 6 -o '\(folder)/client' '\(folder)/main.swift' -I '\(build)/Modules' \
          -Xcc -fmodule-map-file='\(root)/Sources/CZonaiThreads/module.modulemap' \
          "@\(folder)/objects" \
          -Xlinker --unresolved-symbols=ignore-all 2>&1
        ldd '\(folder)/client'
        """
      let linked = try await output(of: script)
      _ = try await output(of: "rm -rf '\(folder)'")
      #expect(linked.contains("libswiftCore.so"), "\(linked)")
      for name in ["Foundation", "_FoundationICU", "libcurl", "sqlite"] {
        #expect(!linked.contains(name), "\(linked)")
      }
    }

    /// Where this test was built.
    private func ownFolder() -> String? {
      var bytes = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/self/exe", &bytes, bytes.count)
      guard count > 0 else { return nil }
      let path = String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      return path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    }

    /// Runs a script on a thread that may block, and gives what it printed.
    private func output(of script: String) async throws -> String {
      try await withCheckedThrowingContinuation { continuation in
        do {
          _ = try NamedThread(name: "shell") { continuation.resume(returning: run(script)) }
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }

  private func run(_ script: String) -> String {
    guard let pipe = popen(script, "r") else { return "popen failed: \(errno)" }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = fread(&chunk, 1, chunk.count, pipe)
      if count == 0 { break }
      bytes += chunk.prefix(count)
    }
    pclose(pipe)
    return String(decoding: bytes, as: UTF8.self)
  }

  extension String {
    fileprivate var trimmed: String { split(whereSeparator: \.isWhitespace).joined() }
  }
#endif
