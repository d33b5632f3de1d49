/// What became of each request of a batch.
public struct HTTP2BatchResult: Sendable {
  /// One outcome a value of the batch, in the batch's order.
  public let outcomes: [HTTP2Outcome]
  /// The place of each request in the order in which this pool wrote requests, over all batches; 0: never written.
  public let places: [UInt64]
  /// Why requests could not be sent for want of a connection, or at all; nil when that was not so.
  public let failure: HTTPFailure?
  /// What servers said when they ended connections that had carried requests of this batch.
  public let goAways: [HTTP2GoAway]
  /// Whether the server answered a request of any batch, below 500, since the pool took this one.
  public let hadAnswers: Bool
  let answers: AnswerArena

  /// What was kept of an answer; nil for a 200 whose body is accepted, and where there was no answer.
  public func answer(_ index: Int) -> HTTP2Answer? { answers[index] }
}

/// What became of one request.
public enum HTTP2Outcome: Sendable, Hashable {
  /// The server answered with this status.
  case answered(UInt16)
  /// The server surely did nothing with it; it may be sent again at once.
  case notHandled(NotHandled)
  /// It was written, and nobody knows what the server did with it.
  case answerLost(AnswerLost)
  /// It was never opened.
  case notSent(NotSent)

  public enum NotHandled: Sendable, Hashable {
    /// The server ended the connection and named this request among those that it did not look at.
    case goAway
    /// The server refused the stream.
    case refused
    /// The connection or the time ended before the whole request was written.
    case neverWritten
  }

  public enum AnswerLost: Sendable, Hashable {
    /// The server reset the stream.
    case reset
    /// The connection ended.
    case connectionLost
    /// No answer came within the time for requests.
    case timedOut
    /// The pool was closed.
    case poolClosed
  }

  public enum NotSent: Sendable, Hashable {
    case notSelected
    /// The permit had ended, or the sending task was cancelled.
    case permitEnded
    /// `stopAfter` said so, or the connections that it was meant for were replaced.
    case stopped
    /// There was no connection; the batch's failure says why.
    case noConnection
    /// Its path or the batch's fields cannot be put on the wire.
    case malformed
    case poolClosed
  }

  /// The status, if there was an answer.
  public var status: UInt16? {
    if case .answered(let status) = self { return status }
    return nil
  }
}

/// What a server said when it ended a connection.
public struct HTTP2GoAway: Sendable, Hashable {
  /// HTTP/2's error code; 0 is an orderly end.
  public let code: UInt32
  /// The highest stream that it looked at.
  public let lastStream: Int32
  /// The server's own words: APNs sends the JSON of an error here. At most 4 KiB are kept.
  public let debugData: [UInt8]
}

/// What is kept of an answer that is not simply accepted.
public struct HTTP2Answer: Sendable {
  /// The first 4 KiB of the body.
  public let body: ArraySlice<UInt8>
  /// Those of the fields that the pool was told to keep.
  public let fields: [HTTPField]

  public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
}

/// The kept answers of a batch, in one piece of memory.
struct AnswerArena: Sendable {
  private struct Entry {
    var start: Int
    var fieldBytes: Int
    var bodyBytes: Int
  }

  private var entries: [Int: Entry] = [:]
  private var bytes: [UInt8] = []
  private let names: [String]

  init(names: [String]) { self.names = names }

  mutating func add(_ index: Int, fields: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
    entries[index] = Entry(start: bytes.count, fieldBytes: fields.count, bodyBytes: body.count)
    bytes.append(contentsOf: fields)
    bytes.append(contentsOf: body)
  }

  subscript(index: Int) -> HTTP2Answer? {
    guard let entry = entries[index] else { return nil }
    let bodyStart = entry.start + entry.fieldBytes
    var fields: [HTTPField] = []
    var place = entry.start
    // Each field is the number of its name, the length of its value in two bytes, and the value: see KeptAnswer.
    while place < bodyStart {
      let length = Int(bytes[place + 1]) << 8 | Int(bytes[place + 2])
      let value = bytes[place + 3..<place + 3 + length]
      fields.append(HTTPField(names[Int(bytes[place])], String(decoding: value, as: UTF8.self)))
      place += 3 + length
    }
    return HTTP2Answer(body: bytes[bodyStart..<bodyStart + entry.bodyBytes], fields: fields)
  }
}
