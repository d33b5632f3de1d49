/// Actions to come, the earliest at hand. Actions due at one moment run in the order in which they were added.
struct TimerHeap {
  private struct Entry {
    var deadline: Int64
    var order: UInt64
    var action: () -> Void

    func isBefore(_ other: Entry) -> Bool { (deadline, order) < (other.deadline, other.order) }
  }

  private var entries: [Entry] = []
  private var added: UInt64 = 0

  mutating func add(at deadline: Int64, _ action: @escaping () -> Void) {
    added += 1
    entries.append(Entry(deadline: deadline, order: added, action: action))
    var child = entries.count - 1
    while child > 0, entries[child].isBefore(entries[(child - 1) / 2]) {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// What poll(2) should wait for: -1 without a timer.
  func pollTimeout(now: Int64) -> Int32 {
    guard let first = entries.first else { return -1 }
    return Int32(clamping: max(0, first.deadline - now))
  }

  mutating func popDue(now: Int64) -> (() -> Void)? {
    guard let first = entries.first, first.deadline <= now else { return nil }
    entries.swapAt(0, entries.count - 1)
    entries.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < entries.count && entries[child].isBefore(entries[least]) { least = child }
      if least == parent { return first.action }
      entries.swapAt(parent, least)
      parent = least
    }
  }
}
