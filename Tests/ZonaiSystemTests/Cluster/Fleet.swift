import Testing
import ZonaiTestServers

/// A table of devices that the database makes by itself, and what it must look like when the job is done.
///
/// Devices with an even number have APNs' tokens, the others FCM's; each hundredth is gone.
struct Fleet: Sendable {
  let count: Int
  let kind: PrivateServer.Kind

  static let stride = 100

  var dead: [Device] { Swift.stride(from: Fleet.stride, through: count, by: Fleet.stride).map(Fleet.device) }
  var deadCount: Int { count / Fleet.stride }
  var liveCount: Int { count - deadCount }

  static func device(_ id: Int) -> Device { id % 2 == 0 ? .ios(id) : .android(id) }

  /// The token of the row, made of its id as `Device` makes it.
  var token: String {
    let hex = kind == .postgres ? "to_hex(id)" : "LOWER(HEX(id))"
    func text(_ parts: String...) -> String {
      kind == .postgres ? parts.joined(separator: " || ") : "CONCAT(\(parts.joined(separator: ", ")))"
    }
    let apns = text("LPAD(\(hex), 8, '0')", "REPEAT('a1', 28)")
    let number = kind == .postgres ? "id::text" : "id"
    let fcm = text("'android-'", number, "':APA91b'", "REPEAT('x', 120)")
    return "CASE WHEN id % 2 = 0 THEN \(apns) ELSE \(fcm) END"
  }

  /// Makes the table `devices`. `registered` is what the application last wrote as the token.
  var statements: String {
    let numbers =
      kind == .postgres ? "generate_series(1, \(count)) AS id" : "(SELECT seq AS id FROM seq_1_to_\(count)) AS s"
    return """
      CREATE TABLE devices (id BIGINT PRIMARY KEY, token VARCHAR(255), platform VARCHAR(16), registered VARCHAR(255));
      INSERT INTO devices (id, token, platform) SELECT id, \(token),
      CASE WHEN id % 2 = 0 THEN 'ios' ELSE 'android' END FROM \(numbers);
      UPDATE devices SET registered = token;
      """
  }

  /// How many rows are not as they must be: the dead ones cleared, all others untouched.
  var wrongRows: String {
    """
    SELECT COUNT(*) FROM devices WHERE CASE WHEN id % \(Fleet.stride) = 0 THEN token IS NOT NULL
    ELSE token IS NULL OR token <> \(token) END
    """
  }

  /// How many rows of living devices are not as they were.
  var harmedRows: String {
    "SELECT COUNT(*) FROM devices WHERE id % \(Fleet.stride) <> 0 AND (token IS NULL OR token <> \(token))"
  }
}
