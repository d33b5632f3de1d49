/// A device of the test's audience.
struct Device: Sendable {
  let id: Int
  let platform: String
  let token: String

  /// An Android device with a token of FCM's.
  static func android(_ id: Int) -> Device { Device(id: id, platform: "android", token: fcmToken("android", id)) }

  /// An iOS device with a token of APNs'.
  static func ios(_ id: Int) -> Device {
    let digits = String(id, radix: 16)
    let hex = String(repeating: "0", count: 8 - digits.count) + digits
    return Device(id: id, platform: "ios", token: hex + String(repeating: "a1", count: 28))
  }

  /// An iOS device with a token of FCM's, whose beginning is told apart by the simulator's faults.
  static func iosOverFCM(_ id: Int, prefix: String = "ios") -> Device {
    Device(id: id, platform: "ios", token: fcmToken(prefix, id))
  }

  private static func fcmToken(_ prefix: String, _ id: Int) -> String {
    "\(prefix)-\(id):APA91b" + String(repeating: "x", count: 120)
  }
}
