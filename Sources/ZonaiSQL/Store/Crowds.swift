import Synchronization
import ZonaiCore

/// Which jobs several workers page through at once, as far as this store noticed, and how long their pages take.
///
/// A page is read before its job's row is locked, since nobody knows how long it takes. Where others were quicker, that read
/// was in vain; and where a page takes a moment, it may as well be read behind the lock. In memory alone: it is only about
/// the quickest way.
package final class Crowds: Sendable {
  private struct Pace {
    /// How long the last page took; nil before the first one.
    var milliseconds: Int64?
    /// How many more claims are made as in a crowd.
    var crowded = 0
  }

  private let paces = Mutex<[JobID: Pace]>([:])
  /// Pages that were read here, and how many of them in vain.
  private let reads = Atomic(0)
  private let losses = Atomic(0)

  /// A page that takes longer is not read while others wait for the job's row.
  private static let quick: Int64 = 50
  /// After so many claims it is tried without the lock again.
  private static let stretch = 32
  private static let limit = 128

  /// How many pages were read, and how many of them in vain, since the store was made.
  package var account: (read: Int, inVain: Int) {
    (reads.load(ordering: .relaxed), losses.load(ordering: .relaxed))
  }

  func noteRead(_ id: JobID, milliseconds: Int64) {
    reads.add(1, ordering: .relaxed)
    paces.withLock { paces in
      if paces.count >= Crowds.limit, paces[id] == nil { paces = [:] }
      paces[id, default: Pace()].milliseconds = milliseconds
    }
  }

  /// Somebody else took the page that was read here.
  func noteLoss(_ id: JobID) {
    losses.add(1, ordering: .relaxed)
    paces.withLock { $0[id]?.crowded = Crowds.stretch }
  }

  /// Whether a page may be read while the job's row is locked.
  func isQuick(_ id: JobID) -> Bool {
    paces.withLock { $0[id]?.milliseconds.map { $0 <= Crowds.quick } ?? false }
  }

  /// Whether the next page is best read behind the lock, counted as one such claim.
  func takeTurn(_ id: JobID) -> Bool {
    paces.withLock { paces in
      guard let pace = paces[id], pace.crowded > 0, let milliseconds = pace.milliseconds, milliseconds <= Crowds.quick
      else { return false }
      paces[id]?.crowded -= 1
      return true
    }
  }

  func forget(_ id: JobID) { paces.withLock { _ = $0.removeValue(forKey: id) } }
}
