import ZonaiCore
import ZonaiJSON

extension LaneIdentity: StoredAsJSON {
  /// Equal identities give equal text.
  package var json: JSON {
    var members: [String: JSON] = ["transport": .string(transport.rawValue), "host": .string(host)]
    members["environment"] = environment.map(JSON.string)
    members["account"] = account.map(JSON.string)
    members["bundleId"] = bundleID.map(JSON.string)
    return .object(members)
  }

  init(json: JSON) throws(StoreError) {
    self.init(
      TransportName(rawValue: try json.text("transport", of: LaneIdentity.self)),
      environment: json["environment"]?.string, account: json["account"]?.string, bundleID: json["bundleId"]?.string,
      host: try json.text("host", of: LaneIdentity.self))
  }
}
