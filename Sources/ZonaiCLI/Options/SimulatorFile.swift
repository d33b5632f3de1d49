import ZonaiHTTP
import ZonaiJSON

/// Where a simulator is, as its `simulator.json` says.
struct SimulatorFile: Sendable {
  let directory: String
  let fcm: String
  let oauth: String
  let apns: String
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
    guard let fcm = json["fcm"]?.string, let oauth = json["oauth"]?.string, let apns = json["apns"]?.string,
      let control = json["control"]?.string
    else { throw .unavailable("\(file) is not a simulator's file; \(advice)") }
    (self.fcm, self.oauth, self.apns, self.control) = (fcm, oauth, apns, control)
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
