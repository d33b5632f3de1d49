import ZonaiHTTP
import ZonaiJSON
import ZonaiTransports

/// Where a simulator is, as its `simulator.json` says.
///
/// Credentials are sent to the addresses in it, so every one of them must be on this machine.
struct SimulatorFile: Sendable {
  let directory: String
  let fcm: Endpoint
  let oauth: Endpoint
  let apns: Endpoint
  let apnsSandbox: Endpoint
  private let control: String

  var caFile: String { "\(directory)/ca.pem" }

  init(in directory: String) throws(CommandFailure) {
    self.directory = directory
    let file = "\(directory)/simulator.json"
    let advice = "start one with: zonai simulate --dir \(directory)"
    let json: JSON
    do throws(CommandFailure) {
      json = try TextFile.json(try TextFile.read(file, as: "the simulator's file"), file: file)
    } catch {
      throw .unavailable("no simulator runs in \(directory) (\(error.sentence)); \(advice)")
    }
    guard let members = json.object else { throw .unavailable("\(file) is not a simulator's file; \(advice)") }
    var addresses: [String: Endpoint] = [:]
    // Members that this version does not know are addresses too.
    for (name, value) in members.sorted(by: { $0.key < $1.key }) where name != "kind" {
      guard let address = SimulatorFile.loopback(value) else {
        throw .configuration(
          "'\(name)' in \(file) is not an address of this machine (127.0.0.1, ::1 or localhost), and credentials would be "
            + "sent there; remove the file and start a simulator again")
      }
      addresses[name] = address
    }
    func address(_ name: String) throws(CommandFailure) -> Endpoint {
      guard let address = addresses[name] else {
        throw .unavailable("\(file) is not a simulator's file, since it lacks '\(name)'; \(advice)")
      }
      return address
    }
    (fcm, oauth) = (try address("fcm"), try address("oauth"))
    (apns, apnsSandbox) = (try address("apns"), try address("apnsSandbox"))
    _ = try address("control")
    control = members["control"]?.string ?? ""
  }

  /// The address on this machine that a member holds, http or https; nil for everything else.
  private static func loopback(_ value: JSON) -> Endpoint? {
    guard let text = value.string, let scheme = ["https://", "http://"].first(where: text.hasPrefix),
      let endpoint = try? Endpoint("https://" + text.dropFirst(scheme.count), setting: scheme), endpoint.isLoopback
    else { return nil }
    return endpoint
  }

  /// Throws unless the simulator answers, so that nothing is written for one that is gone.
  func ask() async throws(CommandFailure) {
    let advice = "start one with: zonai simulate --dir \(directory)"
    let answer: HTTPResponse
    do throws(HTTPFailure) {
      var request = HTTPRequest("GET", "\(control)/status")
      request.timeout = 5000
      answer = try await request.fetch()
    } catch {
      throw .unavailable("the simulator of \(directory) does not answer at \(control): \(error.message); \(advice)")
    }
    guard answer.status == 200, (try? JSON(parsing: answer.body))?["lanes"] != nil else {
      throw .unavailable("what answers at \(control) is not the simulator of \(directory); \(advice)")
    }
  }
}
