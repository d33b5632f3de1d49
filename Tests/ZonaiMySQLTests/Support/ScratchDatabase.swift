import Synchronization
import ZonaiTestServers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An empty database on the shared server, gone when it is released.
final class ScratchDatabase: Sendable {
  let name: String
  let server: ServerURL
  let application: Application
  private let seat: Seats.Seat

  init(on server: ServerURL? = nil) async throws {
    seat = await Seats.shared.take()
    let server = try server ?? ServerURL.shared()
    self.server = server
    let random = UInt32.random(in: .min ... .max)
    name = "zonai_\(getpid())_\(random)"
    application = try Application(server)
    try await application.run("CREATE DATABASE \(name) CHARACTER SET utf8mb4", "USE \(name)")
  }

  /// A second one beside it, for who makes it.
  var otherName: String { name + "_other" }

  var url: String { server.url(database: name) }

  deinit {
    let application = application
    let name = name
    let seat = seat
    Task {
      // The other one first: its tables may point to this one's.
      try? await application.run("DROP DATABASE IF EXISTS \(name)_other", "DROP DATABASE IF EXISTS \(name)")
      await Seats.shared.giveBack(seat)
    }
  }
}

/// So many tests at once have connections to the shared server.
actor Seats {
  struct Seat: Sendable {}
  static let shared = Seats(6)
  static let lockWatchers = Seats(1)

  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  func take() async -> Seat {
    if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
    return Seat()
  }

  func giveBack(_ seat: Seat) {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}
