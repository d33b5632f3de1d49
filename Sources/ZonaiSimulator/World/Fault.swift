import ZonaiHTTP

/// Something that goes wrong on purpose, for the requests that it fits.
struct Fault {
  enum Action: String, CaseIterable {
    /// GOAWAY: this stream and all later ones were never handled.
    case goaway
    /// RST_STREAM.
    case reset
    /// The TCP connection is reset.
    case drop
    /// The connection is closed in order, without an answer.
    case close
    /// The head of the answer and a part of its body are sent, then the connection is closed.
    case cut
    /// No answer, ever.
    case silence
    /// SETTINGS with a new stream limit, then the answer as usual.
    case streamLimit
  }

  enum Target: Equatable {
    case all
    case token(String)
    case prefix(String)
  }

  var id = 0
  /// Nil: every lane.
  var lane: Lane?
  var target = Target.all
  /// How many requests it still fits; nil until it is deleted.
  var times: Int?
  /// How many fitting requests pass before the first one it strikes.
  var after = 0
  /// The answer in place of the lane's own; nil leaves that as it is.
  var response: ServerResponse?
  var delayMilliseconds = 0
  var action: Action?
  /// Of `goaway` and `reset`, as HTTP/2 numbers them.
  var errorCode: UInt32?
  /// GOAWAY's debug data.
  var debugData: [UInt8] = []
  /// Whether GOAWAY counts this stream as handled, and answers it.
  var handlesThis = false
  var streams: UInt32 = 1
  /// How much of its body a `cut` answer has.
  var bodyBytes = 0
  /// Whether the device gets the message although the answer is lost or says otherwise; nil: when the answer is a 200.
  var delivers: Bool?
  /// How many requests it has struck.
  var struck = 0

  func fits(_ lane: Lane, _ token: String?) -> Bool {
    guard self.lane == nil || self.lane == lane else { return false }
    switch target {
    case .all: return true
    case .token(let wanted): return token == wanted
    case .prefix(let prefix): return token?.hasPrefix(prefix) ?? false
    }
  }
}

/// The scripted faults, in the order in which they were given; the first that fits a request strikes it.
struct FaultList {
  private(set) var faults: [Fault] = []
  private var lastID = 0

  mutating func add(_ fault: Fault) -> Int {
    lastID += 1
    var fault = fault
    fault.id = lastID
    faults.append(fault)
    return lastID
  }

  mutating func removeAll() { faults = [] }

  /// The fault that strikes this request.
  mutating func strike(_ lane: Lane, _ token: String?) -> Fault? {
    if faults.isEmpty { return nil }
    for index in faults.indices where faults[index].fits(lane, token) {
      if faults[index].after > 0 {
        faults[index].after -= 1
        continue
      }
      if let times = faults[index].times {
        if times == 0 { continue }
        faults[index].times = times - 1
      }
      faults[index].struck += 1
      return faults[index]
    }
    return nil
  }
}
