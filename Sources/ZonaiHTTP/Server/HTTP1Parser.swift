/// Reads HTTP/1.1 requests out of bytes that arrive in any pieces (RFC 9112).
///
/// Strict where leniency has led to smuggled requests: lines end in CR LF, a request has one length, names have no
/// space before the colon, lines are not folded. After a failure it reads nothing more.
struct HTTP1Parser {
  struct Request {
    var request = ServerRequest()
    var keepsAlive = true
  }

  /// What the client did wrong: the status to answer with, and a sentence.
  struct Failure: Error, Hashable {
    var status: Int
    var sentence: String

    init(_ status: Int, _ sentence: String) {
      self.status = status
      self.sentence = sentence
    }
  }

  enum Progress {
    /// More bytes are needed.
    case incomplete
    case request(Request)
    case failure(Failure)
  }

  /// Leaves `head` with a whole head, `body` and the chunk states with a whole body, back to `head`. `failed` and
  /// `ended` (after a body that was too large to read) are for ever.
  private enum State {
    case head
    case body(remaining: Int)
    case chunkSize
    case chunk(remaining: Int)
    case chunkEnd
    case trailers(read: Int)
    case failed(Failure)
    case ended
  }

  static let headLimit = 32 << 10
  private let bodyLimit: Int
  private var buffer: [UInt8] = []
  private var start = 0
  /// Up to where the buffer holds no line end, so that slow senders do not make the search quadratic.
  private var searched = 0
  private var state = State.head
  private var current = Request()
  /// Whether the client waits for "100 Continue" before it sends the body.
  private(set) var awaitsContinue = false

  init(bodyLimit: Int) { self.bodyLimit = bodyLimit }

  mutating func append(_ bytes: some Sequence<UInt8>) {
    if case .failed = state { return }
    if case .ended = state { return }
    if start > 0 {
      buffer.removeSubrange(..<start)
      searched = max(0, searched - start)
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// How many bytes wait to be read.
  var waiting: Int { buffer.count - start }

  mutating func continued() { awaitsContinue = false }

  mutating func next() -> Progress {
    do throws(Failure) {
      while true {
        if let progress = try step() { return progress }
      }
    } catch {
      state = .failed(error)
      return .failure(error)
    }
  }

  /// Goes one state further; nil when there may be more to do.
  private mutating func step() throws(Failure) -> Progress? {
    switch state {
    case .head:
      guard let head = try takeHead() else { return .incomplete }
      current = Request()
      return try begin(HTTP1Head(head))
    case .body(let remaining):
      let taken = takeBody(remaining)
      if taken < remaining {
        state = .body(remaining: remaining - taken)
        return .incomplete
      }
      return finish()
    case .chunkSize:
      guard let line = try takeLine(limit: 1024) else { return .incomplete }
      let size = try HTTP1Head.chunkSize(line)
      if size == 0 {
        state = .trailers(read: 0)
      } else if current.request.body.count + size > bodyLimit {
        return tooLarge()
      } else {
        state = .chunk(remaining: size)
      }
      return nil
    case .chunk(let remaining):
      let taken = takeBody(remaining)
      state = taken < remaining ? .chunk(remaining: remaining - taken) : .chunkEnd
      return taken < remaining ? .incomplete : nil
    case .chunkEnd:
      guard let line = try takeLine(limit: 2) else { return .incomplete }
      guard line.isEmpty else { throw Failure(400, "a chunk is longer than it said") }
      state = .chunkSize
      return nil
    case .trailers(let read):
      guard let line = try takeLine(limit: Self.headLimit - read) else { return .incomplete }
      if line.isEmpty { return finish() }
      state = .trailers(read: read + line.count + 2)
      return nil
    case .failed(let failure): return .failure(failure)
    case .ended: return .incomplete
    }
  }

  private mutating func begin(_ head: HTTP1Head) throws(Failure) -> Progress? {
    current.request = head.request
    current.keepsAlive = head.keepsAlive
    awaitsContinue = head.expectsContinue
    switch try head.framing() {
    case .length(let length) where length > bodyLimit: return tooLarge()
    case .length(let length):
      state = .body(remaining: length)
    case .chunked:
      state = .chunkSize
    }
    return nil
  }

  private mutating func finish() -> Progress {
    state = .head
    awaitsContinue = false
    return .request(current)
  }

  private mutating func tooLarge() -> Progress {
    state = .ended
    awaitsContinue = false
    current.keepsAlive = false
    current.request.body = []
    current.request.isBodyTooLarge = true
    buffer = []
    start = 0
    return .request(current)
  }

  private mutating func takeBody(_ remaining: Int) -> Int {
    let count = min(remaining, waiting)
    current.request.body.append(contentsOf: buffer[start..<start + count])
    consume(count)
    return count
  }

  /// The lines of a head with their line ends, without the empty line; nil until it is whole.
  private mutating func takeHead() throws(Failure) -> ArraySlice<UInt8>? {
    // Empty lines before a request are forgiven (RFC 9112, section 2.2), all of them: one alone would depend on the
    // pieces in which they come.
    while waiting >= 2, buffer[start] == 0x0D, buffer[start + 1] == 0x0A { consume(2) }
    var index = max(start + 3, searched)
    while index < buffer.count {
      if buffer[index] == 0x0A, buffer[index - 1] == 0x0D, buffer[index - 2] == 0x0A, buffer[index - 3] == 0x0D {
        guard index - start < Self.headLimit else { break }
        let head = buffer[start..<index - 1]
        consume(index + 1 - start)
        return head
      }
      index += 1
    }
    searched = index
    guard waiting < Self.headLimit else { throw Failure(431, "the head of the request is too long") }
    return nil
  }

  /// A line without its end; nil until it is whole.
  private mutating func takeLine(limit: Int) throws(Failure) -> ArraySlice<UInt8>? {
    guard let end = buffer[max(start, searched)...].firstIndex(of: 0x0A) else {
      searched = buffer.count
      guard waiting <= limit else { throw Failure(400, "a line is too long") }
      return nil
    }
    guard end - start <= limit + 1, end > start, buffer[end - 1] == 0x0D else {
      throw Failure(400, "a line does not end where it should, in CR LF")
    }
    let line = buffer[start..<end - 1]
    consume(end + 1 - start)
    return line
  }

  private mutating func consume(_ count: Int) {
    start += count
    searched = start
  }
}
