import Testing
import ZonaiJSON

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

struct SignalTests {
  private func appears(_ text: String, in transcript: Transcript) async throws -> Bool {
    try await blocking { transcript.waitFor(text) }
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
  func `an idle worker stops cleanly`(_ number: Int32) async throws {
    let scene = try await Scene(devices: 2)
    let worker = try Shell(scene.workWords)
    #expect(try await appears("started with", in: worker.standardError))
    worker.signal(number)
    let ending = try await worker.end()
    #expect(ending.code == 0)
    #expect(ending.errors.contains("stopped; nothing remains"))
  }

  @Test func `an interrupted wait says what remains, and how it goes on`() async throws {
    let scene = try await Scene(devices: 4)
    try await scene.simulator.control("POST", "/faults", ["lane": "apns", "action": "silence"])
    let file = try scene.configuration(adding: ["gracePeriodSeconds": 0.5])
    let push = try Shell(scene.pushWords + ["--config", file, "--idempotency-key", "k", "--wait"])
    #expect(try await appears("started with", in: push.standardError))
    push.signal(SIGINT)
    let ending = try await push.end()
    #expect(ending.code == 1)
    #expect(ending.errors.contains("remains: "))
    #expect(ending.errors.contains("It goes on with:  zonai work"))
    // The same push again is the same job: it waits for those whose answer is not known, and is done.
    try await scene.simulator.control("DELETE", "/faults")
    let again = try await scene.push("--idempotency-key", "k", "--wait", "--json")
    #expect(again.code == 0)
    #expect(try again.json["delivered"]?.integer == 4)
    #expect(try scene.jobs == 1)
  }

  @Test func `a second signal ends at once`() async throws {
    let scene = try await Scene(devices: 4)
    try await scene.simulator.control("POST", "/faults", ["lane": "apns", "action": "silence"])
    _ = try await scene.push()
    let file = try scene.configuration(adding: ["gracePeriodSeconds": 3600, "requestTimeoutSeconds": 600])
    let worker = try Shell(scene.workWords + ["--config", file, "--once"])
    #expect(try await appears("started with", in: worker.standardError))
    worker.signal(SIGINT)
    #expect(try await appears("once more ends at once", in: worker.standardError))
    worker.signal(SIGINT)
    #expect(try await worker.end().code == 128 + SIGINT)
  }

  @Test func `under nohup a closed terminal does not stop the worker`() async throws {
    let scene = try await Scene(devices: 4)
    try await scene.simulator.control("POST", "/faults", ["lane": "apns", "action": "silence"])
    _ = try await scene.push()
    let file = try scene.configuration(adding: ["gracePeriodSeconds": 3600, "requestTimeoutSeconds": 600])
    let script = #"trap "" HUP; exec "$0" "$@""#
    let worker = try Shell(
      ["-c", script, Shell.executable] + scene.workWords + ["--config", file], program: "/bin/sh")
    #expect(try await appears("started with", in: worker.standardError))
    // If the first counted, the second would end the process at once, with its own number.
    worker.signal(SIGHUP)
    worker.signal(SIGINT)
    #expect(try await appears("once more ends at once", in: worker.standardError))
    worker.signal(SIGTERM)
    #expect(try await worker.end().code == 128 + SIGTERM)
  }

  @Test func `an interrupted once is not done`() async throws {
    let scene = try await Scene(devices: 4)
    try await scene.simulator.control("POST", "/faults", ["lane": "apns", "action": "silence"])
    _ = try await scene.push()
    let file = try scene.configuration(adding: ["gracePeriodSeconds": 0.5])
    let worker = try Shell(scene.workWords + ["--config", file, "--once", "--json"])
    #expect(try await appears("started with", in: worker.standardError))
    worker.signal(SIGTERM)
    let ending = try await worker.end()
    #expect(ending.code == 1)
    let last = try JSON(parsing: String(try #require(ending.output.split(separator: "\n").last)))
    #expect(last["event"] == "stopped")
    #expect(last["interrupted"] == true)
    #expect(last["openJobs"]?.array?.count == 1)
  }

  @Test func `the simulator stops cleanly and takes its address away`() async throws {
    let folder = try Folder()
    let simulator = try Shell(["simulate", "--dir", folder["simulator"], "--json"])
    #expect(try await appears("control", in: simulator.standardOutput))
    #expect(folder.has("simulator/simulator.json"))
    simulator.signal(SIGTERM)
    #expect(try await simulator.end().code == 0)
    #expect(!folder.has("simulator/simulator.json"))
    #expect(folder.has("simulator/ca.pem"))
  }

  @Test func `a command that cannot be interrupted half-way ends with the signal's code`() async throws {
    let classify = try Shell(["classify", "fcm", "--status", "200"], keepsInputOpen: true)
    // Nothing tells when it reads, so the signal may come before: the result is the same.
    classify.signal(SIGTERM)
    #expect(try await classify.end().code == 128 + SIGTERM)
  }
}
