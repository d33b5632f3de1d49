/// When the workers of one store last looked for work and found none: `waitForWork` does not say who waits, and nobody may
/// sleep through what came since its own look.
///
/// A moment is the store's count of changes, taken before the look. What was changed since somebody's look lets everybody go
/// on: one look too many costs little, a missed one costs a poll.
package struct Looks: Sendable {
  private struct Look {
    var worker: WorkerID
    var seen: Int
    /// How many waits it has kept from beginning.
    var alarms = 0
  }

  private var looks: [Look] = []

  /// A worker that keeps so many waits from beginning does not wait any more itself.
  private static let alarms = 16
  private static let workers = 64

  package init() {}

  package mutating func note(_ worker: WorkerID, seen: Int) {
    forget(worker)
    looks.append(Look(worker: worker, seen: seen))
    if looks.count > Looks.workers { looks.removeFirst() }
  }

  /// The worker found something, and looks again before it waits.
  package mutating func forget(_ worker: WorkerID) { looks.removeAll { $0.worker == worker } }

  /// Whether something was changed since somebody's look, so that a wait must not begin.
  package mutating func areBehind(_ changes: Int) -> Bool {
    var areBehind = false
    for index in looks.indices where looks[index].seen != changes {
      looks[index].alarms += 1
      areBehind = true
    }
    looks.removeAll { $0.alarms >= Looks.alarms }
    return areBehind
  }
}
