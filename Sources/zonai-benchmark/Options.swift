/// zonai-benchmark transport|job --lane fcm|apns --port N --ca FILE [--recipients N] [--in-flight N] [--batch N]
///   [--connections N] [--dir DIR]
struct Options {
  enum Kind: String { case transport, job }
  enum Lane: String { case fcm, apns }

  var kind = Kind.transport
  var lane = Lane.apns
  var port: UInt16 = 0
  var ca = ""
  var recipients = 100_000
  var inFlight = 4
  var batch = 500
  var connections = 1
  /// Where the job's database is made; it is left there.
  var dir = "."

  init(_ arguments: some Sequence<String>) throws {
    var arguments = arguments.makeIterator()
    guard let word = arguments.next(), let kind = Kind(rawValue: word) else {
      throw Mistake(description: "say what to measure: transport or job")
    }
    self.kind = kind
    while let name = arguments.next() {
      guard let value = arguments.next() else { throw Mistake(description: "\(name) wants a value") }
      func number() throws -> Int {
        guard let number = Int(value), number > 0 else {
          throw Mistake(description: "\(name) wants a number above 0, not '\(value)'")
        }
        return number
      }
      switch name {
      case "--lane":
        guard let lane = Lane(rawValue: value) else { throw Mistake(description: "--lane is fcm or apns") }
        self.lane = lane
      case "--port":
        guard let port = UInt16(value) else { throw Mistake(description: "--port wants a port") }
        self.port = port
      case "--ca": ca = value
      case "--recipients": recipients = try number()
      case "--in-flight": inFlight = try number()
      case "--batch": batch = try number()
      case "--connections": connections = try number()
      case "--dir": dir = value
      default: throw Mistake(description: "\(name) is no option")
      }
    }
    guard port > 0, !ca.isEmpty else { throw Mistake(description: "--port and --ca say where the responder is") }
  }

  struct Mistake: Error, CustomStringConvertible { let description: String }
}
