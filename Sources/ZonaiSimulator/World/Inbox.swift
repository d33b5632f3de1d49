import ZonaiHTTP
import ZonaiJSON

/// The messages that were accepted: the last ones whole, all of them as counts.
struct Inbox {
  struct Message {
    var lane: Lane
    var token: String
    var receivedAt: Int64
    var headers: [ServerHeader]
    /// JSON, as it arrived.
    var body: [UInt8]
  }

  /// How many tokens are told apart when repeats are counted; beyond, the counts of repeats stand still.
  static let tokenLimit = 4_000_000

  private let capacity: Int
  private var ring: [Message] = []
  private var next = 0
  private(set) var total = 0
  private(set) var repeated = 0
  /// Hashes take a tenth of the memory of tokens.
  private var tokens: Set<Int> = []

  init(capacity: Int) { self.capacity = max(0, capacity) }

  var kept: Int { ring.count }
  /// How many different devices got a message.
  var recipients: Int { tokens.count }

  mutating func add(_ message: Message) {
    total += 1
    var hasher = Hasher()
    hasher.combine(message.lane)
    hasher.combine(message.token)
    let hash = hasher.finalize()
    if tokens.contains(hash) {
      repeated += 1
    } else if tokens.count < Self.tokenLimit {
      tokens.insert(hash)
    }
    guard capacity > 0 else { return }
    if ring.count < capacity {
      ring.append(message)
    } else {
      ring[next] = message
      next = (next + 1) % capacity
    }
  }

  mutating func clear() {
    ring = []
    next = 0
    total = 0
    repeated = 0
    tokens = []
  }

  /// The newest ones that match, the oldest of them first.
  func newest(_ limit: Int, where matches: (Message) -> Bool) -> [Message] {
    var found: [Message] = []
    for distance in 1...max(1, ring.count) where found.count < limit && distance <= ring.count {
      let message = ring[(next + ring.count - distance) % ring.count]
      if matches(message) { found.append(message) }
    }
    return found.reversed()
  }
}

extension Inbox.Message {
  /// Appends the message as JSON. The credential is not shown; the body is JSON already.
  func write(to output: inout [UInt8]) {
    let shown = headers.filter { $0.name != "authorization" }.map { ($0.name, JSON.string($0.value)) }
    output.append(contentsOf: "{\"lane\":\"\(lane.rawValue)\",\"token\":".utf8)
    JSON.quote(token.utf8, into: &output)
    output.append(contentsOf: ",\"receivedAt\":\(receivedAt),\"headers\":".utf8)
    JSON.object(Dictionary(shown) { first, _ in first }).write(to: &output)
    output.append(contentsOf: ",\"body\":".utf8)
    output.append(contentsOf: body)
    output.append(UInt8(ascii: "}"))
  }
}
