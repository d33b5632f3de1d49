import Testing
import ZonaiJSON

/// A `simulator.json` leads to this machine or nowhere.
@Suite(.serialized, .sharedSimulator) struct SimulatorFileTests {
  private static let elsewhere = [
    "https://example.com", "https://127.0.0.1.example.com:8443", "https://127.0.0.1@example.com",
    "https://127.0.0.1:8443@example.com", "https://localhost.example.com", "https://10.0.0.1:8443",
    "https://[::2]:8443",
    "https://example.com#127.0.0.1", "https://example.com\\@127.0.0.1", "http://example.com", "127.0.0.1", "",
  ]

  private func scene(_ change: (inout [String: JSON]) -> Void) async throws -> (Scene, [String]) {
    let scene = try await Scene(devices: 2)
    var file = try #require(try JSON(parsing: Folder.read("\(scene.simulator.directory)/simulator.json")).object)
    change(&file)
    _ = try scene.folder.write("ca.pem", Folder.read("\(scene.simulator.directory)/ca.pem"))
    _ = try scene.folder.write("simulator.json", JSON.object(file).text)
    let words = scene.pushWords.map { $0 == scene.simulator.directory ? scene.folder.path : $0 }
    return (scene, words + ["--config", "\(scene.simulator.directory)/zonai.json", "--json"])
  }

  @Test(arguments: ["fcm", "oauth", "apns", "apnsSandbox", "control", "anything"])
  func `an address elsewhere is refused before anything is sent`(_ name: String) async throws {
    for address in Self.elsewhere {
      let (scene, words) = try await scene { $0[name] = .string(address) }
      let before = try await scene.simulator.control("GET", "/status")["lanes"]
      let ending = try await Shell.run(words + ["--wait"])
      #expect(ending.code == 2, "\(address): \(ending.errors)")
      #expect(ending.failure.message?.contains("'\(name)'") == true, "\(address): \(ending.errors)")
      #expect(try scene.jobs == 0)
      #expect(try await scene.simulator.control("GET", "/status")["lanes"] == before)
    }
  }

  @Test func `every spelling of this machine will do`() async throws {
    let (scene, words) = try await scene { file in
      for name in ["fcm", "oauth", "apns", "apnsSandbox", "control"] {
        file[name] = file[name]?.string.map { .string($0.replacing("127.0.0.1", with: "localhost")) }
      }
    }
    let ending = try await Shell.run(words + ["--wait"])
    #expect(ending.code == 0, "\(ending.errors)")
    #expect(try ending.json["delivered"] == 2)
    withExtendedLifetime(scene) {}
  }

  @Test func `the simulator's service account is for the simulator alone`() async throws {
    let scene = try await Scene(devices: 2)
    let at = try #require(scene.pushWords.firstIndex(of: "--simulator"))
    var words = scene.pushWords
    words.replaceSubrange(at...at + 1, with: ["--config", "\(scene.simulator.directory)/zonai.json"])
    let ending = try await Shell.run(words + ["--json"])
    #expect(ending.code == 2)
    #expect(ending.failure.message?.contains("--simulator") == true, "\(ending.errors)")
    #expect(try scene.jobs == 0)
  }
}
