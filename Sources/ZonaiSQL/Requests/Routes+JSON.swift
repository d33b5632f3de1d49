import ZonaiCore
import ZonaiJSON

extension Routes {
  static let fields = ["apple", "android", "unknown", "others"]

  /// Who writes SQL has no lanes, so what is left out is what most have: Apple's platforms to APNs, everything else to FCM;
  /// and only what the audience can reach, so that a worker needs no lane for nobody. `null` is nowhere.
  init(_ fields: FieldReader?, for audience: Audience) throws(FieldFault) {
    switch audience.platform {
    case .column: self.init(apple: .apns, android: .fcm, unknown: .fcm)
    case .unknown: self.init(apple: nil, android: nil, unknown: .fcm)
    case .fixed(let platform) where platform.isApple: self.init(apple: .apns, android: nil, unknown: nil)
    case .fixed(let platform) where platform.name == "android": self.init(apple: nil, android: .fcm, unknown: nil)
    case .fixed: self.init(apple: nil, android: nil, unknown: .fcm)
    }
    guard let fields else { return }
    apple = try Routes.transport("apple", fields, else: apple)
    android = try Routes.transport("android", fields, else: android)
    unknown = try Routes.transport("unknown", fields, else: unknown)
    for (platform, name) in try fields.texts("others") {
      others[Platform(platform).name] = try Routes.transport(named: name, "others.\(platform)", fields)
    }
  }

  private static func transport(
    _ name: String, _ fields: FieldReader, else usual: TransportName?
  ) throws(FieldFault) -> TransportName? {
    guard let value = fields.members[name] else { return usual }
    if value.isNull { return nil }
    return try transport(named: fields.string(name) ?? "", name, fields)
  }

  private static func transport(
    named text: String, _ name: String, _ fields: FieldReader
  ) throws(FieldFault) -> TransportName {
    guard !text.isEmpty, !text.contains(where: \.isWhitespace) else {
      throw fields.wrong(name, "a transport's name, such as \"fcm\" or \"apns\"", .string(text))
    }
    return TransportName(rawValue: text)
  }

  package var json: JSON {
    var members: [String: JSON] = [:]
    for (name, transport) in [("apple", apple), ("android", android), ("unknown", unknown)] {
      members[name] = transport.map { .string($0.rawValue) } ?? .null
    }
    if !others.isEmpty { members["others"] = .object(others.mapValues { .string($0.rawValue) }) }
    return .object(members)
  }
}
