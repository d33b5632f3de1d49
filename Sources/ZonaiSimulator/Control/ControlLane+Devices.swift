import ZonaiHTTP
import ZonaiJSON

extension ControlLane {
  func device(_ method: String, _ token: String, _ request: ServerRequest) throws(ControlRefusal) -> JSON {
    guard !token.isEmpty else { throw ControlRefusal(404, "no_token", "a token follows /devices/") }
    let lane = DeviceRegistry.lane(of: token)
    switch method {
    case "PUT": return try register(token, Self.body(request))
    case "GET":
      guard let device = world.devices[lane, token] else {
        throw ControlRefusal(404, "not_registered", "nobody registered this token; it counts as active")
      }
      return Self.show(device, lane)
    case "DELETE":
      world.devices[lane, token] = nil
      return ["done": true]
    default:
      throw ControlRefusal(405, "bad_method", "PUT, GET and DELETE are understood for a device")
    }
  }

  /// All or none: a list with a mistake registers nobody.
  func registerAll(_ body: JSON) throws(ControlRefusal) -> JSON {
    guard let entries = body.array else {
      throw ControlRefusal(400, "bad_body", "a list of objects with \"token\" and \"state\" is expected")
    }
    var devices: [(Lane, String, Device)] = []
    devices.reserveCapacity(entries.count)
    for entry in entries {
      var fields = try ControlFields(entry)
      guard let token = try fields.text("token"), !token.isEmpty else { throw .field("token", "is missing") }
      let (lane, device) = try self.device(token, &fields)
      devices.append((lane, token, device))
    }
    for (lane, token, device) in devices { world.devices[lane, token] = device }
    return ["registered": .integer(Int64(devices.count))]
  }

  private func register(_ token: String, _ body: JSON) throws(ControlRefusal) -> JSON {
    var fields = try ControlFields(body)
    let (lane, device) = try device(token, &fields)
    world.devices[lane, token] = device
    return Self.show(device, lane)
  }

  private func device(
    _ token: String, _ fields: inout ControlFields
  ) throws(ControlRefusal) -> (Lane, Device) {
    let lane = DeviceRegistry.lane(of: token)
    guard let state = try fields.choice("state", as: DeviceState.self) else { throw .field("state", "is missing") }
    let since = try fields.number("since", in: 0...4_102_444_800_000) ?? world.clock.now
    let retryAfter = try fields.number("retryAfterSeconds", in: 0...86_400)
    try fields.finish()
    guard state.isKnown(to: lane) else {
      let rule = "a token of 64 hexadecimal digits or more is APNs', every other one FCM's"
      throw ControlRefusal(
        400, "state_unknown_to_lane", "\(lane.rawValue) cannot say \"\(state.rawValue)\" (\(rule))")
    }
    return (lane, Device(state: state, since: since, retryAfterSeconds: retryAfter))
  }

  private static func show(_ device: Device, _ lane: Lane) -> JSON {
    ["lane": .string(lane.rawValue), "state": .string(device.state.rawValue), "since": .integer(device.since)]
  }
}
