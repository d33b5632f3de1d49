/// The two answers, as bytes that only want their stream id filled in.
struct ResponderAnswers {
  let accepted: [UInt8]
  let dead: [UInt8]
  /// Where in each answer a stream id stands.
  let acceptedHoles: [Int]
  let deadHoles: [Int]
  let deadEvery: Int
  let maxStreams: UInt32
  /// The token endpoint's, over HTTP/1.1; the same body serves for both.
  let overHTTP1: [UInt8]

  init(_ options: Responder.Options) {
    let token =
      #"{"name":"projects/benchmark/messages/1","access_token":"benchmark","expires_in":3599,"token_type":"Bearer"}"#
    if options.isFCM {
      (accepted, acceptedHoles) = Self.answer(status: 200, body: token)
      (dead, deadHoles) = Self.answer(
        status: 404,
        body:
          #"{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}"#
      )
    } else {
      (accepted, acceptedHoles) = Self.answer(status: 200, body: "")
      (dead, deadHoles) = Self.answer(status: 410, body: #"{"reason":"Unregistered","timestamp":1767225600000}"#)
    }
    deadEvery = options.deadEvery
    maxStreams = options.maxStreams
    overHTTP1 = Array(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(token.utf8.count)\r\n\r\n\(token)".utf8)
  }

  /// A HEADERS frame, and a DATA frame when there is a body.
  private static func answer(status: Int, body: String) -> ([UInt8], [Int]) {
    var block: [UInt8]
    switch status {
    case 200: block = [0x88]  // indexed: RFC 7541, appendix A
    case 404: block = [0x8d]
    default:
      // Literal without indexing, name of the static table's entry 8 (:status).
      block = [0x08, 0x03] + Array("\(status)".utf8)
    }
    let id = "01234567-89ab-cdef-0123-456789abcdef"
    block += [0x00, 0x07] + Array("apns-id".utf8) + [UInt8(id.utf8.count)] + Array(id.utf8)
    block += [0x00, 0x0c] + Array("content-type".utf8) + [0x10] + Array("application/json".utf8)
    let hasBody = !body.isEmpty
    var bytes = frame(length: block.count, type: 1, flags: hasBody ? 0x4 : 0x5) + block
    var holes = [5]
    if hasBody {
      holes.append(bytes.count + 5)
      bytes += frame(length: body.utf8.count, type: 0, flags: 0x1) + Array(body.utf8)
    }
    return (bytes, holes)
  }

  static func frame(length: Int, type: UInt8, flags: UInt8, stream: UInt32 = 0) -> [UInt8] {
    [
      UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags,
      UInt8(stream >> 24 & 127), UInt8(stream >> 16 & 255), UInt8(stream >> 8 & 255), UInt8(stream & 255),
    ]
  }
}
