/// What a connection knows of one request under way.
struct StreamSlot {
  enum Phase: UInt8 {
    case free
    /// Handed to nghttp2; its end is not in the buffer yet.
    case opened
    /// Its end is in the buffer or on the wire; see `endPosition`.
    case ended
    /// Reported; nghttp2 has yet to forget the stream.
    case reported
  }

  var phase = Phase.free
  var run: Unmanaged<BatchRun>?
  var request = 0
  var stream: Int32 = 0
  var status: UInt16 = 0
  var isAnswerComplete = false
  var bodyBeginning = BodyBeginning.none
  var bodySent = 0
  /// The request's place in the order in which the pool writes; 0 while its end is not in the
  /// buffer.
  var place: UInt64 = 0
  /// The connection's count of bytes before the request's last frame: past it, the end may have been written.
  var endPosition: Int64 = 0
  /// When it was opened, then when its end was written; 0 while the end waits in the buffer.
  var since: Int64 = 0
  /// How many requests the connection had answered when the end was written.
  var answersBefore: UInt64 = 0
  var kept: UnsafeMutablePointer<KeptAnswer>?
  var previous: UnsafeMutablePointer<StreamSlot>?
  var next: UnsafeMutablePointer<StreamSlot>?
}

/// As many slots as there may be streams, in one piece of memory; taking and giving back allocates nothing.
struct StreamSlots: ~Copyable {
  let all: UnsafeMutableBufferPointer<StreamSlot>
  private(set) var inUse = 0
  private var free: UnsafeMutablePointer<StreamSlot>?

  init(count: Int) {
    all = .allocate(capacity: count)
    all.initialize(repeating: StreamSlot())
    for index in (0..<count).reversed() {
      let slot = all.baseAddress.map { $0 + index }
      slot?.pointee.next = free
      free = slot
    }
  }

  deinit { all.deallocate() }

  var isFull: Bool { free == nil }

  mutating func take() -> UnsafeMutablePointer<StreamSlot>? {
    guard let slot = free else { return nil }
    free = slot.pointee.next
    slot.pointee = StreamSlot()
    inUse += 1
    return slot
  }

  mutating func giveBack(_ slot: UnsafeMutablePointer<StreamSlot>) {
    slot.pointee.phase = .free
    slot.pointee.run = nil
    slot.pointee.next = free
    free = slot
    inUse -= 1
  }
}

/// Slots in the order in which something happened to them; the first has waited longest.
struct SlotQueue {
  private(set) var first: UnsafeMutablePointer<StreamSlot>?
  private var last: UnsafeMutablePointer<StreamSlot>?

  mutating func append(_ slot: UnsafeMutablePointer<StreamSlot>) {
    slot.pointee.previous = last
    slot.pointee.next = nil
    if let last { last.pointee.next = slot } else { first = slot }
    last = slot
  }

  mutating func remove(_ slot: UnsafeMutablePointer<StreamSlot>) {
    let previous = slot.pointee.previous
    let next = slot.pointee.next
    if let previous { previous.pointee.next = next } else { first = next }
    if let next { next.pointee.previous = previous } else { last = previous }
    slot.pointee.previous = nil
    slot.pointee.next = nil
  }
}
