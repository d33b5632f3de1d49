/// A batch's dead, and their account as JSON, spliced together.
struct HandRejections {
  var keys: [Int64] = []
  var tokens: [[UInt8]] = []
  var stored = ""

  init(_ page: HandPage, job: String, batch: Int64) {
    var text = "["
    for index in stride(from: 0, to: page.count, by: Stores.deadEvery) {
      let token = Array(page.token(index))
      keys.append(page.keys[index])
      tokens.append(token)
      if index > 0 { text += "," }
      text += "{\"event\":\"\(job)-\(batch)-1-\(index)\",\"evidence\":\"conclusive\","
      text += "\"group\":[\"apns\",\"benchmark/alert\",\"ios\"],\"key\":[\(page.keys[index])],"
      text += "\"reason\":\"Unregistered\",\"status\":410,\"token\":\"\(HandRejections.hex(token))\"}"
    }
    stored = text + "]"
  }

  static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(unsafeUninitializedCapacity: bytes.count * 2) { room in
      for (index, byte) in bytes.enumerated() {
        room[2 * index] = digits[Int(byte >> 4)]
        room[2 * index + 1] = digits[Int(byte & 15)]
      }
      return bytes.count * 2
    }
  }
}
