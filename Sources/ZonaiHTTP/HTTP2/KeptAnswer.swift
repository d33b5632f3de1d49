/// Room for what is kept of an answer until it is complete. Used again and again.
struct KeptAnswer {
  static let bodyLimit = 4096
  static let fieldLimit = 2048

  private let memory: UnsafeMutableRawBufferPointer
  private var fieldBytes = 0
  private var bodyBytes = 0

  init() { memory = .allocate(byteCount: Self.fieldLimit + Self.bodyLimit, alignment: 1) }

  func deallocate() { memory.deallocate() }

  mutating func clear() {
    fieldBytes = 0
    bodyBytes = 0
  }

  var fields: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[0..<fieldBytes]) }
  var body: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: memory[Self.fieldLimit..<Self.fieldLimit + bodyBytes])
  }

  /// Adds a field as `AnswerArena` reads it. One that does not fit is left out.
  mutating func addField(_ number: Int, _ value: UnsafeRawBufferPointer) {
    guard fieldBytes + 3 + value.count <= Self.fieldLimit else { return }
    memory[fieldBytes] = UInt8(truncatingIfNeeded: number)
    memory[fieldBytes + 1] = UInt8(truncatingIfNeeded: value.count >> 8)
    memory[fieldBytes + 2] = UInt8(truncatingIfNeeded: value.count)
    UnsafeMutableRawBufferPointer(rebasing: memory[(fieldBytes + 3)...]).copyMemory(from: value)
    fieldBytes += 3 + value.count
  }

  /// Adds to the body; what is beyond the limit is left out.
  mutating func addBody(_ bytes: UnsafeRawBufferPointer) {
    let count = min(bytes.count, Self.bodyLimit - bodyBytes)
    guard count > 0 else { return }
    UnsafeMutableRawBufferPointer(rebasing: memory[(Self.fieldLimit + bodyBytes)...])
      .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[0..<count]))
    bodyBytes += count
  }
}

/// The rooms that are not in use, for all connections of a pool.
final class KeptAnswerStock {
  private var unused: [UnsafeMutablePointer<KeptAnswer>] = []

  deinit {
    for room in unused {
      room.pointee.deallocate()
      room.deallocate()
    }
  }

  func take() -> UnsafeMutablePointer<KeptAnswer> {
    if let room = unused.popLast() { return room }
    let room = UnsafeMutablePointer<KeptAnswer>.allocate(capacity: 1)
    room.initialize(to: KeptAnswer())
    return room
  }

  func giveBack(_ room: UnsafeMutablePointer<KeptAnswer>) {
    room.pointee.clear()
    unused.append(room)
  }
}
