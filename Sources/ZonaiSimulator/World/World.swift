import ZonaiHTTP
import ZonaiThreads

/// All that the simulator knows and remembers.
///
/// @unchecked: made on one thread before the server starts, then touched on the server's thread alone.
final class World: @unchecked Sendable {
  let options: SimulatorOptions
  /// Known once the ports are taken, which is before the first request.
  var endpoints = SimulatorEndpoints(fcm: "", oauth: "", apns: "", apnsSandbox: "", control: "")
  let folder: SimulatorFolder
  let fcmSchema = FCMSchema.request()
  var clock = SimulatorClock()
  var devices = DeviceRegistry()
  var faults = FaultList()
  var inbox: Inbox
  var tally = Tally()
  var google: GoogleAccount
  var apple: AppleTeam

  init(options: SimulatorOptions, folder: SimulatorFolder, google: GoogleAccount, apple: AppleTeam) {
    self.options = options
    self.folder = folder
    self.google = google
    self.apple = apple
    inbox = Inbox(capacity: options.inboxCapacity)
  }
}

/// One of the services that are simulated.
enum Lane: String, CaseIterable {
  case fcm
  case oauth
  case apns
  /// Apple's development environment, on a port of its own. Its devices are those of `apns`.
  case apnsSandbox = "apns-sandbox"
}

/// The simulator's time: the machine's, turned by as much as the control port said.
struct SimulatorClock {
  private(set) var offset: Int64 = 0

  /// Milliseconds since 1970.
  var now: Int64 { WallClock.milliseconds() + offset }
  var seconds: Int64 { now / 1000 }

  mutating func advance(by milliseconds: Int64) { offset += milliseconds }
  mutating func set(to milliseconds: Int64) { offset = milliseconds - WallClock.milliseconds() }
  mutating func reset() { offset = 0 }
}

/// An answer, before a scripted fault has its say.
struct Reply {
  var response: ServerResponse
  /// How it is counted: "200", "404 UNREGISTERED", "400 BadDeviceToken".
  var label: String
  /// Whether the device gets the message.
  var delivers = false
}
