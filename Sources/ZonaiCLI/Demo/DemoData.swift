/// Two tables that hold tokens: one made for them, and one of people, with a token column of its own.
enum DemoData {
  struct Device: Sendable {
    let id: Int
    let reader: Int
    let platform: String
    let model: String
    let token: String
  }

  struct Reader: Sendable {
    let id: Int
    let isActive: Bool
    let platform: String
    let token: String
  }

  static let devices: [Device] = [
    ("ios", "iPhone 14"), ("android", "Pixel 7"), ("ios", "iPad Air"), ("android", "Galaxy S23"), ("ios", "iPhone SE"),
    ("android", "Fairphone 5"), ("ios", "iPhone 15"), ("android", "Pixel 8"), ("android", "Xperia 5"),
    ("ios", "iPhone 12"),
  ].enumerated().map { index, kind in
    Device(
      id: index + 1, reader: index / 2 + 1, platform: kind.0, model: kind.1,
      token: token(kind.0, seed: UInt64(index + 1)))
  }

  static let readers: [Reader] = [
    ("android", true), ("ios", true), ("ios", false), ("android", true), ("ios", true),
  ].enumerated().map { index, kind in
    Reader(id: index + 1, isActive: kind.1, platform: kind.0, token: token(kind.0, seed: UInt64(index + 101)))
  }

  // Who meets with what.
  static let uninstalledDevices = [3, 4]
  static let throttledDevice = 8
  static let uninstalledReader = 5

  static var sql: String {
    let deviceRows = devices.map { "(\($0.id), \($0.reader), '\($0.platform)', '\($0.model)', '\($0.token)')" }
    let readerRows = readers.map {
      "(\($0.id), 'reader-\($0.id)@example.com', \($0.isActive ? 1 : 0), '\($0.platform)', '\($0.token)')"
    }
    return """
      CREATE TABLE device_tokens (
        id INTEGER PRIMARY KEY, reader_id INTEGER NOT NULL, platform TEXT NOT NULL, model TEXT NOT NULL, token TEXT
      );
      CREATE TABLE users (
        id INTEGER PRIMARY KEY, email TEXT NOT NULL, active INTEGER NOT NULL, phone TEXT NOT NULL, push_token TEXT
      );
      INSERT INTO device_tokens VALUES
        \(deviceRows.joined(separator: ",\n  "));
      INSERT INTO users VALUES
        \(readerRows.joined(separator: ",\n  "));

      """
  }

  /// 64 hexadecimal digits for APNs, FCM's form otherwise; the same in every run.
  private static func token(_ platform: String, seed: UInt64) -> String {
    var state = seed &* 0x9E37_79B9_7F4A_7C15
    func pick(_ letters: String, _ count: Int) -> String {
      let letters = Array(letters)
      return String(
        (0..<count).map { _ in
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          return letters[Int(state >> 33) % letters.count]
        })
    }
    if platform == "ios" { return pick("0123456789abcdef", 64) }
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return pick(letters, 22) + ":APA91b" + pick(letters, 134)
  }
}
