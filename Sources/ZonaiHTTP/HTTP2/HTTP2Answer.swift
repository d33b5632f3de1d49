/// What is kept of an answer that is not simply accepted.
public struct HTTP2Answer: Sendable {
  /// The first 4 KiB of the body.
  public let body: ArraySlice<UInt8>
  /// Those of the fields that the pool was told to keep.
  public let fields: [HTTPField]

  public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
}

/// The kept answers of a chunk, in one piece of memory.
struct AnswerArena: Sendable {
  private struct Entry {
    var start: Int
    var fieldBytes: Int
    var bodyBytes: Int
  }

  private var entries: [Entry] = []
  private var bytes: [UInt8] = []
  private let names: [String]

  init(names: [String]) { self.names = names }

  /// Gives the number under which the answer is kept.
  mutating func add(fields: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) -> Int {
    entries.append(Entry(start: bytes.count, fieldBytes: fields.count, bodyBytes: body.count))
    bytes.append(contentsOf: fields)
    bytes.append(contentsOf: body)
    return entries.count - 1
  }

  mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }

  subscript(number: Int) -> HTTP2Answer {
    let entry = entries[number]
    let bodyStart = entry.start + entry.fieldBytes
    var fields: [HTTPField] = []
    var place = entry.start
    // Each field is the number of its name, the length of its value in two bytes, and the value:
    // see KeptAnswer.
    while place < bodyStart {
      let length = Int(bytes[place + 1]) << 8 | Int(bytes[place + 2])
      let value = bytes[place + 3..<place + 3 + length]
      fields.append(HTTPField(names[Int(bytes[place])], String(decoding: value, as: UTF8.self)))
      place += 3 + length
    }
    return HTTP2Answer(body: bytes[bodyStart..<bodyStart + entry.bodyBytes], fields: fields)
  }
}
