import ZonaiCore
import ZonaiJSON

/// The caller's own JSON for FCM's `message` object.
///
/// FCM takes every field in camelCase and in snake_case. Zonai writes the latter, so that an
/// override meets what it means to replace; a field in both spellings is refused, since either
/// could win. A target or a credential in it is refused: one message goes to many devices, with the
/// lane's credential.
struct FCMOverride {
  let members: [String: JSON]

  init(_ text: String) throws(MessageFault) {
    var members = try Override.read(text, field: "fcmOverride")
    // The whole request's shape, as Google's pages show it, is what people paste.
    if members.count == 1, let message = members["message"]?.object { members = message }
    members = try FCMOverride.withOneSpelling(members, at: "")
    try FCMOverride.refuseTargets(members)
    try FCMOverride.refuseCredentials(members)
    try FCMOverride.checkShapes(members)
    try FCMOverride.checkData(members)
    self.members = members
  }

  private static let targets = ["token", "topic", "condition", "fid", "name"]

  private static func refuseTargets(_ members: [String: JSON]) throws(MessageFault) {
    for target in targets where members[target] != nil {
      throw MessageFault(
        field: "fcmOverride.\(target)",
        "fcmOverride must not hold '\(target)': whom a message goes to is the audience's business; remove it")
    }
    if members["apns"]?["live_activity_token"] != nil {
      throw MessageFault(
        field: "fcmOverride.apns.live_activity_token",
        "fcmOverride must not hold 'apns.live_activity_token': it belongs to one device; remove it")
    }
    if members["validate_only"] != nil {
      throw MessageFault(
        field: "fcmOverride.validate_only",
        "fcmOverride must not hold 'validate_only': it is not part of the message; remove it")
    }
  }

  private static func refuseCredentials(_ members: [String: JSON]) throws(MessageFault) {
    for block in ["apns", "webpush"] {
      for name in (members[block]?["headers"]?.object ?? [:]).keys where isCredential(name) {
        throw MessageFault(
          field: "fcmOverride.\(block).headers.\(name)",
          "fcmOverride must not hold the header '\(name)': credentials are the configuration's business; remove it")
      }
    }
    for name in members.keys where isCredential(name) {
      throw MessageFault(
        field: "fcmOverride.\(name)",
        "fcmOverride must not hold '\(name)': credentials are the configuration's business; remove it")
    }
  }

  private static func isCredential(_ name: String) -> Bool {
    ["authorization", "proxy-authorization", "crypto-key", "cookie", "access_token", "key"].contains(name.lowercased())
  }

  /// Blocks that Zonai adds to must be what they are.
  private static func checkShapes(_ members: [String: JSON]) throws(MessageFault) {
    let blocks = [["data"], ["notification"], ["android"], ["apns"], ["apns", "headers"], ["apns", "payload"]]
    for path in blocks {
      let block = path.reduce(JSON.object(members) as JSON?) { $0?[$1] }
      guard let block, !block.isNull, block.object == nil else { continue }
      let name = path.joined(separator: ".")
      throw MessageFault(
        field: "fcmOverride.\(name)", "fcmOverride has \(block.kind) as '\(name)' where FCM wants an object")
    }
  }

  /// FCM refuses a reserved key, and a value that is not text, for every recipient alike.
  private static func checkData(_ members: [String: JSON]) throws(MessageFault) {
    for path in [["data"], ["android", "data"]] {
      let data = path.reduce(JSON.object(members) as JSON?) { $0?[$1] }?.object ?? [:]
      let name = "fcmOverride." + path.joined(separator: ".")
      for (key, value) in data.sorted(by: { $0.key < $1.key }) {
        let field = "\(name).\(ServiceWords.shortened(key))"
        if MessageRules.isReserved(dataKey: key) {
          throw MessageFault(field: field, "\(field) is reserved by FCM: choose another name")
        }
        guard value.string != nil || value.isNull else {
          throw MessageFault(field: field, "\(field) is \(value.kind) where FCM takes text only: put it in quotes")
        }
      }
    }
  }

  /// Every name in the spelling that Zonai writes. Throws where two names become one.
  private static func withOneSpelling(
    _ members: [String: JSON], at path: String
  ) throws(MessageFault) -> [String: JSON] {
    var result: [String: JSON] = [:]
    var given: [String: String] = [:]
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      let field = headers.contains(path) ? name.lowercased() : snakeCased(name)
      let here = path.isEmpty ? field : "\(path).\(field)"
      if let other = given.updateValue(name, forKey: field) {
        let place = path.isEmpty ? "fcmOverride" : "fcmOverride.\(path)"
        throw MessageFault(
          field: "fcmOverride.\(here)", "\(place) has '\(other)' and '\(name)', which are one field to FCM; keep one")
      }
      // FCM hands the names of web push headers on as they are.
      result[path == "webpush.headers" ? name : field] = try withOneSpelling(value, at: here)
    }
    return result
  }

  private static func withOneSpelling(_ value: JSON, at path: String) throws(MessageFault) -> JSON {
    switch value {
    case .object(let members) where !isOpaque(path): return .object(try withOneSpelling(members, at: path))
    case .array(let elements) where !isOpaque(path):
      var result: [JSON] = []
      for element in elements { result.append(try withOneSpelling(element, at: path)) }
      return .array(result)
    default: return value
    }
  }

  /// Names of header fields are the same in either case.
  private static let headers: Set<String> = ["apns.headers", "webpush.headers"]

  /// Whether names within it are the application's or another service's, not FCM's.
  private static func isOpaque(_ path: String) -> Bool {
    path == "data" || path.hasSuffix(".data") || path == "apns.payload" || path == "webpush.notification"
  }

  private static func snakeCased(_ name: String) -> String {
    var result = ""
    for character in name {
      if character.isASCII, character.isUppercase {
        if !result.isEmpty { result += "_" }
        result += character.lowercased()
      } else {
        result.append(character)
      }
    }
    return result
  }
}
