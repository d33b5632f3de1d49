import ZonaiHTTP
import ZonaiJSON

/// The control port: plain HTTP, JSON in and out, for programs on this machine. `docs/simulator.md`
/// describes each request.
struct ControlLane: Sendable {
  let world: World

  func serve(_ exchange: ServerExchange) {
    do throws(ControlRefusal) {
      try ControlCaller(port: world.endpoints.controlPort).check(exchange.request)
      exchange.respond(response(to: exchange.request))
    } catch {
      exchange.respond(Self.refusal(error))
    }
  }

  func response(to request: ServerRequest) -> ServerResponse {
    do throws(ControlRefusal) {
      return Self.json(200, try answer(request))
    } catch {
      return Self.refusal(error)
    }
  }

  private static func refusal(_ refusal: ControlRefusal) -> ServerResponse {
    let body: JSON = ["error": ["code": .string(refusal.code), "message": .string(refusal.message)]]
    return json(refusal.status, body.bytes)
  }

  private static func json(_ status: Int, _ body: [UInt8]) -> ServerResponse {
    ServerResponse(
      status: status, headers: [ServerHeader("content-type", "application/json")], body: body + [UInt8(ascii: "\n")])
  }

  private func answer(_ request: ServerRequest) throws(ControlRefusal) -> [UInt8] {
    guard !request.isBodyTooLarge else { throw ControlRefusal(413, "too_large", "send fewer devices at a time") }
    switch (request.method, String(request.path)) {
    case ("GET", "/status"): return status.bytes
    case ("DELETE", "/status"):
      world.tally.clear()
      return status.bytes
    case ("POST", "/devices"): return try registerAll(Self.body(request)).bytes
    case ("DELETE", "/devices"):
      world.devices.removeAll()
      return done.bytes
    case (let method, let path) where path.hasPrefix("/devices/"):
      let token = FormFields.decode(path.dropFirst("/devices/".count).utf8)
      return try device(method, token, request).bytes
    case ("GET", "/faults"): return faults.bytes
    case ("POST", "/faults"): return try addFault(Self.body(request)).bytes
    case ("DELETE", "/faults"):
      world.faults.removeAll()
      return done.bytes
    case ("GET", "/clock"): return clock.bytes
    case ("POST", "/clock"): return try turnClock(Self.body(request)).bytes
    case ("GET", "/credentials"): return credentials.bytes
    case ("POST", "/credentials"): return try changeCredentials(Self.body(request)).bytes
    case ("GET", "/inbox"): return try inbox(request)
    case ("DELETE", "/inbox"):
      world.inbox.clear()
      return done.bytes
    case (let method, let path):
      throw ControlRefusal(404, "no_such_request", "there is no \(method) \(path) here; see docs/simulator.md")
    }
  }

  private var done: JSON { ["done": true] }

  static func body(_ request: ServerRequest) throws(ControlRefusal) -> JSON {
    do throws(JSONError) {
      return try JSON(parsing: request.body)
    } catch {
      throw ControlRefusal(400, "bad_json", "the body is not JSON: \(error)")
    }
  }

  private var status: JSON {
    [
      "lanes": world.tally.json, "devices": .integer(Int64(world.devices.count)),
      "faults": .integer(Int64(world.faults.faults.count)), "now": .integer(world.clock.now),
      "inbox": inboxCounts,
    ]
  }

  private var inboxCounts: JSON {
    [
      "total": .integer(Int64(world.inbox.total)), "kept": .integer(Int64(world.inbox.kept)),
      "recipients": .integer(Int64(world.inbox.recipients)), "repeated": .integer(Int64(world.inbox.repeated)),
    ]
  }

  /// `limit`, and if wanted `lane` and `token`. The bodies are JSON already and are not read again.
  private func inbox(_ request: ServerRequest) throws(ControlRefusal) -> [UInt8] {
    var query = FormFields.parse(Array(request.query.utf8))
    let limit = query.removeValue(forKey: "limit")
    guard let count = limit.map({ Int($0) }) ?? 100, count >= 0 else {
      throw .field("limit", "is a whole number, none below 0")
    }
    let lane = query.removeValue(forKey: "lane")
    let token = query.removeValue(forKey: "token")
    if let unknown = query.keys.min() {
      throw ControlRefusal(400, "unknown_field", "there is no \"\(unknown)\" here; limit, lane and token there are")
    }
    let messages = world.inbox.newest(count) { message in
      (lane == nil || message.lane.rawValue == lane) && (token == nil || message.token == token)
    }
    var output = Array(#"{"messages":["#.utf8)
    for (index, message) in messages.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      message.write(to: &output)
    }
    output.append(contentsOf: "],".utf8)
    output.append(contentsOf: inboxCounts.bytes.dropFirst())
    return output
  }
}
