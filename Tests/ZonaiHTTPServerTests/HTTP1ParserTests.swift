import Testing

@testable import ZonaiHTTP

@Suite struct HTTP1ParserTests {
  /// Feeds pieces and gathers requests up to the first failure.
  private static func parse(
    _ pieces: [[UInt8]], bodyLimit: Int = 1000
  ) -> (requests: [HTTP1Parser.Request], failure: HTTP1Parser.Failure?) {
    var parser = HTTP1Parser(bodyLimit: bodyLimit)
    var requests: [HTTP1Parser.Request] = []
    for piece in pieces {
      parser.append(piece)
      reading: while true {
        switch parser.next() {
        case .incomplete: break reading
        case .request(let request): requests.append(request)
        case .failure(let failure): return (requests, failure)
        }
      }
    }
    return (requests, nil)
  }

  private static func parse(_ text: String) -> (requests: [HTTP1Parser.Request], failure: HTTP1Parser.Failure?) {
    parse([Array(text.utf8)])
  }

  @Test func `a request is its line, its fields and its body`() throws {
    let (requests, failure) = Self.parse(
      "POST /a?b=c HTTP/1.1\r\nHost: here:1\r\nX-Some:\t value \r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nhost:x\r\n\r\n"
    )
    #expect(failure == nil && requests.count == 2)
    let first = try #require(requests.first).request
    #expect(first.method == "POST" && first.path == "/a" && first.query == "b=c")
    #expect(first.authority == "here:1" && first.header("x-some") == "value")
    #expect(first.body == Array("hello".utf8))
    #expect(requests[1].request.target == "/" && requests[1].keepsAlive)
  }

  @Test func `chunks make one body, extensions and trailers aside`() throws {
    let (requests, failure) = Self.parse(
      "PUT / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nx: y\r\n\r\nGET / HTTP/1.0\r\n\r\n"
    )
    #expect(failure == nil && requests.count == 2)
    #expect(requests[0].request.body == Array("abc0123456789".utf8))
    #expect(!requests[1].keepsAlive)
  }

  @Test func `empty lines before a request are passed over, in whatever pieces they come`() {
    let bytes = Array("\r\n\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n".utf8)
    for pieces in [[bytes], bytes.map { [$0] }] {
      let (requests, failure) = Self.parse(pieces)
      #expect(requests.count == 1 && failure == nil)
    }
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", 400),
    ("GET /\r\n\r\n", 400), ("GET  / HTTP/1.1\r\nhost: x\r\n\r\n", 400), ("G@T / HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    ("GET / HTTP/2.0\r\nhost: x\r\n\r\n", 505), ("GET /\u{1} HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nhost : x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nhost: x\r\n folded\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nhost: x\r\nno colon\r\n\r\n", 400), ("GET / HTTP/1.1\r\nhost: x\r\na: b\u{0}\r\n\r\n", 400),
    ("GET / HTTP/1.1\nhost: x\r\n\r\n", 400),
    ("P / HTTP/1.1\r\nhost: x\r\ncontent-length: +5\r\n\r\n", 400),
    ("P / HTTP/1.1\r\nhost: x\r\ncontent-length: 5, 5\r\n\r\n", 400),
    ("P / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n", 400),
    ("P / HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999999999999\r\n\r\n", 400),
    ("P / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n", 400),
    ("P / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n", 501),
    ("P / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n", 400),
    ("P / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n", 400),
    ("P / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nFFFFFFFFF\r\n", 400),
    ("P / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\nabc\r\n", 400),
    ("P / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\nab\r\n", 400),
  ])
  func `what could be read in two ways is refused`(_ text: String, _ status: Int) {
    let (requests, failure) = Self.parse(text)
    #expect(requests.isEmpty && failure?.status == status)
  }

  @Test func `a head without end and a body over the limit are cut off`() {
    let endless = Array("GET / HTTP/1.1\r\nx: ".utf8) + [UInt8](repeating: 0x61, count: HTTP1Parser.headLimit)
    #expect(Self.parse([endless]).failure?.status == 431)
    let long = Array("P / HTTP/1.1\r\nhost: x\r\ncontent-length: 1001\r\n\r\n".utf8)
    let chunked = Array("P / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3E9\r\n".utf8)
    for bytes in [long, chunked] {
      let (requests, failure) = Self.parse([bytes, [UInt8](repeating: 0x61, count: 5000)])
      #expect(failure == nil && requests.count == 1)
      #expect(requests.first?.request.isBodyTooLarge == true && requests.first?.keepsAlive == false)
    }
    let exact = Array("P / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n".utf8)
    #expect(Self.parse([exact, [UInt8](repeating: 0x61, count: 1000)]).requests.first?.request.body.count == 1000)
  }

  @Test func `a client that waits for a hundred is told once to go on`() {
    var parser = HTTP1Parser(bodyLimit: 100)
    parser.append("P / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\n".utf8)
    guard case .incomplete = parser.next() else { return #expect(Bool(false), "the body is not there yet") }
    #expect(parser.awaitsContinue)
    parser.continued()
    parser.append("x".utf8)
    guard case .request = parser.next() else { return #expect(Bool(false), "the body is there") }
    #expect(!parser.awaitsContinue)
  }

  static let seeds = [
    "POST /a?b=c HTTP/1.1\r\nhost: here\r\nx-y: z\r\ncontent-length: 11\r\n\r\nhello worldGET /b HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
    "PUT / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3;a=b\r\nabc\r\na\r\n0123456789\r\n0\r\nx: y\r\n\r\n\r\nGET / HTTP/1.0\r\n\r\n",
  ]

  @Test(arguments: seeds)
  func `damaged requests read the same in one piece and in many, and never stop the parser`(_ seed: String) {
    var random = SystemRandomNumberGenerator()
    let marks = Array("\r\n :;0aF,\u{0}\u{7F}".utf8)
    for round in 0..<5_000 {
      var bytes = Array(seed.utf8)
      for _ in 0..<(round == 0 ? 0 : Int.random(in: 1...5, using: &random)) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(marks[Int.random(in: 0..<marks.count, using: &random)], at: place)
        default: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...9, using: &random)))
        }
      }
      var pieces: [[UInt8]] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Int.random(in: 1...7, using: &random)
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      let (whole, wholeFailure) = Self.parse([bytes])
      let (cut, cutFailure) = Self.parse(pieces)
      #expect(whole.map(\.request.target) == cut.map(\.request.target), "\(bytes)")
      #expect(whole.map(\.request.body) == cut.map(\.request.body), "\(bytes)")
      #expect(wholeFailure?.status == cutFailure?.status, "\(bytes)")
    }
  }

  @Test func `noise never stops the parser`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let noise = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      _ = Self.parse([noise + [13, 10, 13, 10]])
    }
  }
}
