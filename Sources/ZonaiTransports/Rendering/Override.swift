import ZonaiCore
import ZonaiJSON

/// JSON that a caller merges into what Zonai rendered.
///
/// Objects are merged member by member, everything else replaces what was there, and `null` takes a member out (RFC 7396).
enum Override {
  /// Reads the text. Throws when it is not one JSON object.
  static func read(_ text: String, field: String) throws(MessageFault) -> [String: JSON] {
    let parsed: JSON
    do throws(JSONError) {
      parsed = try JSON(parsing: text)
    } catch {
      throw MessageFault(field: field, "\(field) is not JSON: \(error)")
    }
    guard let members = parsed.object else {
      throw MessageFault(field: field, "\(field) must be a JSON object, and it is \(parsed.kind)")
    }
    return members
  }

  static func merge(_ patch: [String: JSON], into target: inout [String: JSON]) {
    for (name, value) in patch {
      switch value {
      case .null: target[name] = nil
      case .object(let members):
        var inner = target[name]?.object ?? [:]
        merge(members, into: &inner)
        target[name] = .object(inner)
      default: target[name] = value
      }
    }
  }
}
