/// The request line and the fields of an HTTP/1.1 request, checked.
struct HTTP1Head {
  enum Framing: Equatable {
    case length(Int)
    case chunked
  }

  typealias Failure = HTTP1Parser.Failure

  private(set) var request = ServerRequest()
  private(set) var keepsAlive: Bool
  private let isVersion10: Bool

  init(_ bytes: ArraySlice<UInt8>) throws(Failure) {
    var lines = Self.lines(bytes)
    guard let first = lines.popFirst() else { throw Failure(400, "there is no request line") }
    let words = first.split(separator: 0x20, omittingEmptySubsequences: false)
    guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(Self.isTokenByte),
      !words[1].isEmpty, words[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw Failure(400, "the request line is not a method, a target and a version") }
    request.method = String(decoding: words[0], as: UTF8.self)
    request.target = String(decoding: words[1], as: UTF8.self)
    switch String(decoding: words[2], as: UTF8.self) {
    case "HTTP/1.1": isVersion10 = false
    case "HTTP/1.0": isVersion10 = true
    case let version where version.hasPrefix("HTTP/"): throw Failure(505, "HTTP/1.1 is spoken here")
    default: throw Failure(400, "the request line is not a method, a target and a version")
    }
    keepsAlive = !isVersion10
    for line in lines { request.headers.append(try Self.field(line)) }
    let connection = Self.list(request, "connection")
    if connection.contains("close") {
      keepsAlive = false
    } else if isVersion10 {
      keepsAlive = connection.contains("keep-alive")
    }
    try readAuthority()
  }

  var expectsContinue: Bool { !isVersion10 && Self.list(request, "expect").contains("100-continue") }

  func framing() throws(Failure) -> Framing {
    let lengths = request.headers.filter { $0.name == "content-length" }.map(\.value)
    if request.header("transfer-encoding") != nil {
      guard lengths.isEmpty, !isVersion10 else {
        throw Failure(400, "a request has one length: content-length or chunks, not both")
      }
      guard Self.list(request, "transfer-encoding") == ["chunked"] else {
        throw Failure(501, "chunked is the only transfer encoding that is understood here")
      }
      return .chunked
    }
    guard let length = lengths.first else { return .length(0) }
    // More than fifteen digits are no length that anybody means, and might overflow.
    guard lengths.allSatisfy({ $0 == length }), (1...15).contains(length.utf8.count),
      length.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(length)
    else { throw Failure(400, "content-length is not one whole number") }
    return .length(number)
  }

  /// The size at the head of a chunk; what follows a semicolon says nothing that anybody uses.
  static func chunkSize(_ line: ArraySlice<UInt8>) throws(Failure) -> Int {
    let digits = line.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != 0x20 && $0 != 0x09 }
    guard (1...8).contains(digits.count), let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size >= 0,
      digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") })
    else { throw Failure(400, "the size of a chunk is not a hexadecimal number") }
    return size
  }

  private mutating func readAuthority() throws(Failure) {
    let hosts = request.headers.filter { $0.name == "host" }
    guard hosts.count <= 1, isVersion10 || hosts.count == 1 else { throw Failure(400, "a request names one host") }
    request.authority = hosts.first?.value ?? ""
  }

  private static func lines(_ bytes: ArraySlice<UInt8>) -> ArraySlice<ArraySlice<UInt8>> {
    var lines: [ArraySlice<UInt8>] = []
    var start = bytes.startIndex
    while let end = bytes[start...].firstIndex(of: 0x0D), end + 1 < bytes.endIndex, bytes[end + 1] == 0x0A {
      lines.append(bytes[start..<end])
      start = end + 2
    }
    if start < bytes.endIndex { lines.append(bytes[start...]) }
    return lines[...]
  }

  private static func field(_ line: ArraySlice<UInt8>) throws(Failure) -> ServerHeader {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
      line[..<colon].allSatisfy(isTokenByte)
    else { throw Failure(400, "a header field is not a name, a colon and a value") }
    var value = line[(colon + 1)...]
    while let byte = value.first, byte == 0x20 || byte == 0x09 { value = value.dropFirst() }
    while let byte = value.last, byte == 0x20 || byte == 0x09 { value = value.dropLast() }
    guard value.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
      throw Failure(400, "the value of a header field holds a control character")
    }
    return ServerHeader(
      String(decoding: line[..<colon], as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self))
  }

  private static func list(_ request: ServerRequest, _ name: String) -> [String] {
    request.headers.filter { $0.name == name }.flatMap { header in
      header.value.lowercased().split(separator: ",").map { word in
        String(word.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
      }
    }
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: tokenMarks.contains(byte)
    }
  }

  private static let tokenMarks = Set("!#$%&'*+-.^_`|~".utf8)
}
