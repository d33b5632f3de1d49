/// HTTP/1.1 on one connection: one request after the other, the next one read when the last one was answered.
final class ServerHTTP1Session: ServerSession {
  private unowned let connection: ServerConnection
  private var parser: HTTP1Parser
  private var output: [UInt8] = []
  private var current: ServerExchange?
  private var keepsAlive = true
  /// Set while requests are being read, so that a handler that answers at once does not pile up calls.
  private var isAdvancing = false
  private(set) var isFinished = false

  init(connection: ServerConnection) {
    self.connection = connection
    parser = HTTP1Parser(bodyLimit: connection.service.bodyLimit)
  }

  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard !isFinished else { return true }
    // Whoever sends on and on without reading answers is cut off rather than kept in memory.
    guard parser.waiting < connection.service.bodyLimit + 2 * HTTP1Parser.headLimit else { return false }
    parser.append(bytes)
    advance()
    return true
  }

  private func advance() {
    guard !isAdvancing else { return }
    isAdvancing = true
    defer { isAdvancing = false }
    while current == nil, !isFinished {
      switch parser.next() {
      case .incomplete:
        if parser.awaitsContinue {
          parser.continued()
          output.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8)
        }
        return
      case .request(let parsed):
        keepsAlive = parsed.keepsAlive
        let exchange = ServerExchange(request: parsed.request, connection: connection, stream: 0)
        current = exchange
        connection.service.handler(exchange)
      case .failure(let failure):
        write(
          ServerResponse(
            status: failure.status, headers: [ServerHeader("content-type", "text/plain")],
            body: Array((failure.sentence + "\n").utf8)), closes: true)
        isFinished = true
      }
    }
  }

  func respond(_ response: ServerResponse, to exchange: ServerExchange, cutAfter cut: Int?) {
    guard exchange === current else { return }
    current = nil
    write(response, closes: !keepsAlive, bodyBytes: exchange.request.method == "HEAD" ? 0 : cut)
    if cut != nil { keepsAlive = false }
    if !keepsAlive { isFinished = true }
    advance()
  }

  private func write(_ response: ServerResponse, closes: Bool, bodyBytes: Int? = nil) {
    output.append(contentsOf: "HTTP/1.1 \(response.status) \(Self.phrase(response.status))\r\n".utf8)
    for header in response.headers { output.append(contentsOf: "\(header.name): \(header.value)\r\n".utf8) }
    if response.status != 204, response.status != 304 {
      output.append(contentsOf: "content-length: \(response.body.count)\r\n".utf8)
    }
    if closes { output.append(contentsOf: "connection: close\r\n".utf8) }
    output.append(contentsOf: "\r\n".utf8)
    output.append(contentsOf: response.body.prefix(bodyBytes ?? response.body.count))
  }

  func produce(into bytes: inout [UInt8], limit: Int) {
    bytes.append(contentsOf: output)
    output.removeAll(keepingCapacity: true)
  }

  func reset(_ exchange: ServerExchange, errorCode: UInt32) -> Bool { false }
  func goAway(lastStream: Int32, errorCode: UInt32, debugData: [UInt8]) -> Bool { false }
  func limitStreams(to limit: UInt32) {}

  func abandon() {
    current?.isOver = true
    current = nil
    isFinished = true
  }

  private static func phrase(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 201: "Created"
    case 204: "No Content"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 413: "Content Too Large"
    case 415: "Unsupported Media Type"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 505: "HTTP Version Not Supported"
    default: ""
    }
  }
}
