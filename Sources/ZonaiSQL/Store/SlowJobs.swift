import Synchronization
import ZonaiCore

/// How often in a row this store looked into a job for longer than it may. In memory alone: another worker may be quicker.
final class SlowJobs: Sendable {
  private let tries = Mutex<[JobID: Int]>([:])

  /// Three: one may be a busy moment, and each holds a worker's claims up for the whole of the reading limit.
  static let limit = 3

  /// Whether this was one try too many.
  func note(_ id: JobID) -> Bool {
    tries.withLock { tries in
      tries[id, default: 0] += 1
      return tries[id, default: 0] >= SlowJobs.limit
    }
  }

  func forget(_ id: JobID) { tries.withLock { _ = $0.removeValue(forKey: id) } }
}

extension SQLStore {
  /// Puts the job behind the others, which may have been waiting for it; fails it when it goes on like this.
  func postpone(_ id: JobID) async throws(StoreError) -> ClaimResult {
    guard slow.note(id) else {
      return try await write { connection throws(StoreError) in
        try connection.run(
          sql("UPDATE zonai_jobs SET turn = \(try nextTurn(connection)) WHERE id = \(id.rawValue)"))
        return .contended
      }
    }
    let result = try await write { connection throws(StoreError) in
      try stop(id, try slowness(of: id, connection), connection)
    }
    slow.forget(id)
    return result
  }

  private func slowness(of id: JobID, _ connection: Driver.Connection) throws(StoreError) -> JobFailure {
    let audience = try definition(id, connection).audience
    var sentence =
      "a page of \(audience.table) took longer than \(limits.reading) ms, \(SlowJobs.limit) times in a row: "
    if let columns = audience.predicate?.columns {
      let indexed = audience.key + columns.filter { !audience.key.contains($0) }
      sentence += "few rows meet the predicate on \(columns.joined(separator: ", ")), so see whether an index over "
      sentence += "(\(indexed.joined(separator: ", "))) helps"
    } else {
      sentence += "look for what keeps the database busy"
    }
    return JobFailure(.store, sentence + ", or let reads take longer (StoreLimits.reading); then resume the job")
  }
}
