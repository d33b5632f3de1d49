import ZonaiCore
import ZonaiJSON

extension OwedRecipient: StoredAsJSON {
  /// Only what differs from a recipient that was never tried: there may be hundreds in a batch.
  var json: JSON {
    var members: [String: JSON] = ["key": key.json]
    if attempts != 0 { members["attempts"] = .integer(Int64(attempts)) }
    if freeRepeats != 0 { members["free"] = .integer(Int64(freeRepeats)) }
    if notBefore != 0 { members["notBefore"] = .integer(notBefore) }
    if outageRounds != 0 { members["outageRounds"] = .integer(Int64(outageRounds)) }
    if let outageSince { members["outageSince"] = .integer(outageSince) }
    if let suspectOf { members["suspectOf"] = suspectOf.json }
    if let tokenDigest { members["digest"] = .integer(Int64(bitPattern: tokenDigest)) }
    if wasUnknown { members["wasUnknown"] = true }
    return .object(members)
  }

  init(json: JSON) throws(StoreError) {
    guard let key = json["key"] else { throw .unreadable(OwedRecipient.self, "key is missing") }
    self.init(
      key: try RowKey(json: key), attempts: Int(json.whole("attempts") ?? 0),
      freeRepeats: Int(json.whole("free") ?? 0), notBefore: json.whole("notBefore") ?? 0,
      outageRounds: Int(json.whole("outageRounds") ?? 0), outageSince: json.whole("outageSince"),
      tokenDigest: json.whole("digest").map { UInt64(bitPattern: $0) }, wasUnknown: json["wasUnknown"]?.bool ?? false)
    if let group = json["suspectOf"] { suspectOf = try Group(json: group) }
  }
}

extension Rejection: StoredAsJSON {
  var json: JSON {
    var members: [String: JSON] = [
      "event": .string(eventID), "key": key.json, "token": .string(token.bytes.hex), "group": group.json,
      "evidence": .string(evidence.rawValue), "reason": .string(reason.rawValue),
    ]
    if let lastSeen { members["lastSeen"] = lastSeen.json }
    if let status { members["status"] = .integer(Int64(status)) }
    if let words { members["words"] = .string(words) }
    if let deadSince { members["deadSince"] = .integer(deadSince) }
    return .object(members)
  }

  init(json: JSON) throws(StoreError) {
    guard let key = json["key"], let group = json["group"],
      let token = [UInt8](hex: try json.text("token", of: Rejection.self)),
      let evidence = Evidence(rawValue: try json.text("evidence", of: Rejection.self))
    else { throw .unreadable(Rejection.self, "key, group, token or evidence is missing") }
    // A last-seen column that was NULL is a member that is null: without the member, the audience names no such column.
    var lastSeen: Value?
    if let seen = json["lastSeen"] { lastSeen = try Value(json: seen) }
    self.init(
      eventID: try json.text("event", of: Rejection.self), key: try RowKey(json: key), token: DeviceToken(token),
      lastSeen: lastSeen, group: try Group(json: group), evidence: evidence,
      reason: Reason(rawValue: try json.text("reason", of: Rejection.self)),
      status: json.whole("status").map { Int($0) },
      words: json["words"]?.string, deadSince: json.whole("deadSince"))
  }
}
