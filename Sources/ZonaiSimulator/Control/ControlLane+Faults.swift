import ZonaiHTTP
import ZonaiJSON

extension ControlLane {
  func addFault(_ body: JSON) throws(ControlRefusal) -> JSON {
    var fields = try ControlFields(body)
    var fault = Fault()
    fault.lane = try fields.choice("lane")
    fault.target = try Self.target(&fields, fault.lane)
    fault.times = try fields.number("times", in: 1...1_000_000_000).map(Int.init)
    fault.after = Int(try fields.number("after", in: 0...1_000_000_000) ?? 0)
    fault.delayMilliseconds = Int(try fields.number("delayMs", in: 0...3_600_000) ?? 0)
    fault.action = try fields.choice("action")
    fault.errorCode = try Self.errorCode(&fields)
    fault.debugData = Array(try fields.text("debugData") ?? "").flatMap { Array(String($0).utf8) }
    fault.handlesThis = try fields.flag("handled") ?? false
    fault.streams = UInt32(try fields.number("streams", in: 0...1_000_000) ?? 1)
    fault.bodyBytes = Int(try fields.number("bodyBytes", in: 0...1_000_000) ?? 0)
    fault.delivers = try fields.flag("deliver")
    fault.response = try Self.response(&fields)
    try fields.finish()
    guard fault.response != nil || fault.action != nil || fault.delayMilliseconds > 0 || fault.delivers != nil else {
      throw ControlRefusal(400, "no_effect", "give a \"status\", an \"action\" or a \"delayMs\", or nothing happens")
    }
    return ["id": .integer(Int64(world.faults.add(fault)))]
  }

  var faults: JSON {
    [
      "faults": .array(
        world.faults.faults.map { fault in
          [
            "id": .integer(Int64(fault.id)), "lane": fault.lane.map { .string($0.rawValue) } ?? .null,
            "struck": .integer(Int64(fault.struck)), "left": fault.times.map { .integer(Int64($0)) } ?? .null,
          ]
        })
    ]
  }

  private static func target(_ fields: inout ControlFields, _ lane: Lane?) throws(ControlRefusal) -> Fault.Target {
    let (token, prefix) = (try fields.text("token"), try fields.text("prefix"))
    // APNs reads hexadecimal digits in either case.
    func folded(_ text: String) -> String { lane == .apns ? text.lowercased() : text }
    switch (token, prefix) {
    case (nil, nil): return .all
    case (let token?, nil): return .token(DeviceRegistry.isAPNsToken(token) ? token.lowercased() : folded(token))
    case (nil, let prefix?): return .prefix(folded(prefix))
    case (_?, _?): throw ControlRefusal(400, "bad_field", "give a \"token\" or a \"prefix\", not both")
    }
  }

  private static func response(_ fields: inout ControlFields) throws(ControlRefusal) -> ServerResponse? {
    let status = try fields.number("status", in: 200...599)
    let headers = fields.json("headers")
    let body = fields.json("body")
    guard let status else {
      guard headers == nil, body == nil else {
        throw .field("status", "is missing, but \"headers\" or \"body\" is there")
      }
      return nil
    }
    var response = ServerResponse(status: Int(status))
    for (name, value) in (headers?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
      guard let text = value.string ?? value.integer.map({ String($0) }) else {
        throw .field("headers", "is an object of text")
      }
      response.headers.append(ServerHeader(name.lowercased(), text))
    }
    // Text is sent as it is, everything else as JSON.
    response.body = body.map { $0.string.map { Array($0.utf8) } ?? $0.bytes } ?? []
    return response
  }

  /// A number, or one of HTTP/2's names (RFC 9113, section 7).
  private static func errorCode(_ fields: inout ControlFields) throws(ControlRefusal) -> UInt32? {
    guard let value = fields.json("errorCode") else { return nil }
    if let number = value.integer, let code = UInt32(exactly: number) { return code }
    guard let name = value.string, let code = errorNames.firstIndex(of: name) else {
      throw .field("errorCode", "is a number or one of \(errorNames.joined(separator: ", "))")
    }
    return UInt32(code)
  }

  private static let errorNames = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
    "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
  ]
}
