import Testing
import ZonaiJSON
import ZonaiSimulator

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A running simulator in a folder of its own, with what a client needs to know about it.
struct Bench {
  let simulator: Simulator
  let directory: String
  let serviceAccount: JSON
  let apns: JSON

  static func with(_ options: SimulatorOptions = SimulatorOptions(), _ body: (Bench) async throws -> Void) async throws
  {
    let directory = temporaryDirectory()
    let simulator = try await Simulator(directory: directory + "/simulator", options: options)
    do {
      try simulator.start()
      try await body(Bench(simulator))
    } catch {
      await simulator.stop()
      removeTree(directory)
      throw error
    }
    await simulator.stop()
    removeTree(directory)
  }

  init(_ simulator: Simulator) throws {
    self.simulator = simulator
    directory = simulator.directory
    serviceAccount = try JSON(parsing: Program.read(directory + "/service-account.json"))
    let configuration = try JSON(parsing: Program.read(directory + "/zonai.json"))
    apns = try #require(configuration["apns"])
  }

  static func temporaryDirectory() -> String {
    var template = Array("/tmp/zonai-simulator-XXXXXX".utf8CString)
    return template.withUnsafeMutableBufferPointer { buffer in
      guard let start = buffer.baseAddress, mkdtemp(start) != nil else { return "/tmp/zonai-simulator-none" }
      return String(cString: start)
    }
  }

  /// Removes a folder and what is in it, two levels deep, which is as deep as a simulator goes.
  static func removeTree(_ path: String) {
    guard let listing = opendir(path) else {
      unlink(path)
      return
    }
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { removeTree("\(path)/\(name)") }
    }
    closedir(listing)
    rmdir(path)
  }

  var keyFile: String { directory + "/" + (apns["keyFile"]?.string ?? "") }
  var keyID: String { apns["keyId"]?.string ?? "" }
  var teamID: String { apns["teamId"]?.string ?? "" }
  var bundleID: String { apns["bundleId"]?.string ?? "" }
  var projectID: String { serviceAccount["project_id"]?.string ?? "" }
  var now: Int64 { Int64(time(nil)) }

  var sendURL: String { "\(simulator.endpoints.fcm)/v1/projects/\(projectID)/messages:send" }
  func deviceURL(_ token: String) -> String { "\(simulator.endpoints.apns)/3/device/\(token)" }

  func status(_ path: String...) async throws -> JSON? {
    try await path.reduce(Optional(simulator.control("GET", "/status"))) { $0?[$1] }
  }

  /// How often a lane gave that answer.
  func count(_ lane: String, _ label: String) async throws -> Int64 {
    try await status("lanes", lane, "answers", label)?.integer ?? 0
  }
}

/// A device token of APNs that differs with the number.
func apnsToken(_ number: Int) -> String {
  let digits = String(number, radix: 16)
  return "a" + String(repeating: "0", count: 63 - digits.utf8.count) + digits
}
