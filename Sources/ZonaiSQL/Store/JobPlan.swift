import Synchronization
import ZonaiCore
import ZonaiJSON

/// A job's definition with its table, looked up once: what pages and prunes of the job are rendered from.
struct JobPlan: Sendable {
  let definition: JobDefinition
  let table: TableDescription
  let target: PruneTarget
  /// nil when the audience's platform is not in a column.
  let platform: ColumnDescription?
  /// The predicate, rendered: it may hold a hundred thousand values.
  let filter: SQLFragment?

  /// Throws when the table is not what the definition says.
  init(_ definition: JobDefinition, table: TableDescription, dialect: some SQLDialect) throws(StoreError) {
    func column(_ name: String) throws(StoreError) -> ColumnDescription {
      if let column = table.column(name) { return column }
      throw StoreError(.noSuchColumn, "the table \(table.table) has no column \(name) any more")
    }
    let audience = definition.audience
    var key: [ColumnDescription] = []
    for name in audience.key { key.append(try column(name)) }
    var lastSeen: ColumnDescription?
    if let name = audience.lastSeen { lastSeen = try column(name) }
    if case .column(let name) = audience.platform { platform = try column(name) } else { platform = nil }
    self.definition = definition
    self.table = table
    target = PruneTarget(
      table: audience.table, key: key, token: try column(audience.token), lastSeen: lastSeen,
      index: table.indexNames[audience.key])
    if let predicate = audience.predicate {
      var rendered = SQLBuilder(dialect)
      try rendered.predicate(predicate, in: table)
      // Pages bind the key's two ends as well, and owed recipients hundreds of keys.
      let most = dialect.mostValues - dialect.pairsAtOnce * (key.count + 1)
      guard rendered.fragment.values.count <= most else {
        throw StoreError(
          .invalidPredicate,
          "the predicate compares columns with \(rendered.fragment.values.count) values one by one, and this database takes "
            + "\(most) at most: put the values of a column into a list, \(predicate.columns.first ?? "column") in (…)")
      }
      var builder = SQLBuilder(dialect)
      dialect.appendFilter(rendered.fragment, to: &builder)
      filter = builder.fragment
    } else {
      filter = nil
    }
  }

  /// What the fan-out reads of a row: key, token, and the columns that the caller named.
  var readColumns: [ColumnDescription] {
    target.key + [target.token] + [platform, target.lastSeen].compactMap { $0 }
  }
}

/// The plans of the jobs at work in this process.
final class PlanCache: Sendable {
  private struct Entries {
    var plans: [JobID: JobPlan] = [:]
    /// The one used longest ago first.
    var order: [JobID] = []
  }

  private let entries = Mutex(Entries())
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  subscript(id: JobID) -> JobPlan? {
    entries.withLock { entries in
      guard let plan = entries.plans[id] else { return nil }
      if entries.order.last != id {
        entries.order.removeAll { $0 == id }
        entries.order.append(id)
      }
      return plan
    }
  }

  func keep(_ plan: JobPlan, for id: JobID) {
    entries.withLock { entries in
      entries.order.removeAll { $0 == id }
      entries.order.append(id)
      entries.plans[id] = plan
      if entries.order.count > capacity { entries.plans[entries.order.removeFirst()] = nil }
    }
  }

  func forget(_ id: JobID) {
    entries.withLock { entries in
      entries.order.removeAll { $0 == id }
      entries.plans[id] = nil
    }
  }
}

extension SQLStore {
  /// The job's definition, from memory or its row.
  func definition(_ id: JobID, _ connection: Driver.Connection) throws(StoreError) -> JobDefinition {
    if let plan = plans[id] { return plan.definition }
    let statement = sql("SELECT definition, predicate, request FROM zonai_jobs WHERE id = \(id.rawValue)")
    let definition = try connection.first(statement) { row throws(StoreError) -> JobDefinition in
      if let definition = row.optionalText(0) {
        return try StoredDefinition(definition: definition, predicate: row.optionalText(1)).decoded()
      }
      do throws(FieldFault) { return try PushRequest(parsing: row.optionalText(2)).definition } catch {
        throw StoreError(.corrupt, error.sentence)
      }
    }
    guard let definition else { throw missing(id) }
    return definition
  }

  /// The job's plan, from memory or made of its row and the table as it is now.
  func plan(_ id: JobID, _ connection: Driver.Connection) throws(StoreError) -> JobPlan {
    if let plan = plans[id] { return plan }
    let definition = try definition(id, connection)
    let table = try dialect.describe(definition.audience.table, on: connection)
    let plan = try JobPlan(definition, table: table, dialect: dialect)
    plans.keep(plan, for: id)
    return plan
  }

  /// The job's plan after the checks of an enqueue, against the table as it is now.
  func checkedPlan(_ id: JobID, _ connection: Driver.Connection) throws(StoreError) -> JobPlan {
    plans.forget(id)
    let definition = try definition(id, connection)
    let statement = sql("SELECT deletes_referenced FROM zonai_jobs WHERE id = \(id.rawValue)")
    let isMeant = try connection.first(statement) { row throws(StoreError) in row.integer(0) != 0 }
    let plan = try resolve(
      EnqueueRequest(definition: definition, deletesReferencedRows: isMeant ?? false), connection)
    plans.keep(plan, for: id)
    return plan
  }

  /// Whether the job's table, or a column that it names, is no longer there.
  func isGone(_ id: JobID, _ connection: Driver.Connection) throws(StoreError) -> Bool {
    plans.forget(id)
    do throws(StoreError) {
      _ = try plan(id, connection)
      return false
    } catch {
      guard error.code == .noSuchTable || error.code == .noSuchColumn else { throw error }
      return true
    }
  }
}
