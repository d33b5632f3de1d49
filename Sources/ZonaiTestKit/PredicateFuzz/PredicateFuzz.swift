import ZonaiCore

/// What a database selects by thousands of random predicates, against a model that knows nothing of
/// SQL: the predicate is refused where it has no meaning, and else accepts exactly the rows that
/// the model accepts.
///
/// A failure prints the seed, the table, the row and the predicate, shortened; the seed alone
/// replays it.
package struct PredicateFuzz<Database: FuzzDatabase> {
  private let database: Database
  private let rowsEach = 14
  private let columnsEach = 8
  private let predicatesEach = 250

  package init(_ database: Database) { self.database = database }

  /// How often predicates were asked for, refused, and how many rows they accepted: a run that
  /// accepts nothing proves nothing.
  package struct Report: Sendable, CustomStringConvertible {
    package var predicates = 0, refused = 0, rows = 0
    package var seconds = 0.0
    package var description: String {
      "\(predicates) predicates, of which \(refused) were refused; the others accepted \(rows) rows; "
        + "\(Int(seconds * 10) / 10) s"
    }
  }

  package func run(predicates: Int, seed: UInt64) async throws -> Report {
    var report = Report()
    let start = ContinuousClock.now
    var table: UInt64 = 0
    while report.predicates < predicates {
      try await run(seed: seed &+ table, limit: predicates - report.predicates, &report)
      table += 1
    }
    let time = (ContinuousClock.now - start).components
    report.seconds = Double(time.seconds) + Double(time.attoseconds) * 1e-18
    return report
  }

  /// One table.
  private func run(seed: UInt64, limit: Int, _ report: inout Report) async throws {
    var chance = FuzzChance(seed: seed)
    var columns: [String: FuzzColumn] = [:]
    var declared: [(name: String, column: FuzzColumn)] = []
    for number in 0..<columnsEach {
      let column = chance.pick(database.columns)
      columns["c\(number)"] = column
      declared.append(("c\(number)", column))
    }
    let rows = (0..<rowsEach).map { _ in declared.map { chance.cell(of: $0.column) } }
    let held = try await database.make(declared, rows: rows)
    let table = FuzzTable(
      seed: seed, declared: declared,
      rows: held.map { cells in
        Dictionary(uniqueKeysWithValues: zip(declared.map(\.name), cells))
      }, model: FuzzModel(columns: columns))
    let places = declared.enumerated().map { index, place in
      (name: place.name, column: place.column, cells: held.map { $0[index] })
    }
    var written: [Predicate] = []
    for _ in 0..<min(limit, predicatesEach) {
      let predicate = chance.predicate(places, depth: 3)
      report.predicates += 1
      let selection = await select(predicate)
      switch selection {
      case .refused:
        report.refused += 1
        if written.count < 4 { written.append(predicate) }
      case .rows(let ids): report.rows += ids.count
      case .failed: break
      }
      if table.isRight(predicate, selection) { continue }
      let shortest = await shortened(predicate, in: table)
      let again = await select(shortest)
      throw FuzzFailure(table.words(for: shortest, again))
    }
    for predicate in written {
      do throws(StoreError) {
        _ = try await database.store.enqueue(request(predicate))
      } catch {
        guard case .jobs(let jobs) = try await database.store.jobs(.list(limit: 1, states: nil)), !jobs.isEmpty else {
          continue
        }
      }
      throw FuzzFailure("seed \(seed): an enqueue that was to be refused wrote a job: \(predicate.text)")
    }
    try await database.drop()
  }

  private func select(_ predicate: Predicate) async -> FuzzSelection {
    do {
      let keys = try await database.keys(of: request(predicate))
      return .rows(keys.compactMap { if case .integer(let id) = $0.values.first { Int(id) } else { nil } })
    } catch let error as StoreError where error.code == .invalidPredicate && error.databaseWords == nil {
      return .refused
    } catch {
      return .failed("\(error)")
    }
  }

  private func request(_ predicate: Predicate) -> EnqueueRequest {
    EnqueueRequest(
      definition: JobDefinition(
        message: PushMessage(title: "news"), audience: Audience("t", token: "token", where: predicate),
        policy: .clearColumn, routes: Routes(apple: .fcm, android: .fcm, unknown: .fcm)))
  }

  /// The smallest predicate that goes wrong too, found by leaving parts out.
  private func shortened(_ predicate: Predicate, in table: FuzzTable) async -> Predicate {
    var shortest = predicate
    search: while true {
      for smaller in shortest.smaller where !table.isRight(smaller, await select(smaller)) {
        shortest = smaller
        continue search
      }
      return shortest
    }
  }
}

/// One database's side of the fuzz test: column types, a table of them, and what a predicate
/// selects.
package protocol FuzzDatabase: Sendable {
  associatedtype Store: JobStore
  var store: Store { get }
  var columns: [FuzzColumn] { get }
  /// Makes the table `t` with an integer key `id`, 0 and up, a token, and these columns; gives the
  /// rows as they are held.
  func make(_ columns: [(name: String, column: FuzzColumn)], rows: [[FuzzCell]]) async throws -> [[FuzzCell]]
  /// The keys of the request's recipients, in order, after all checks of an enqueue and with
  /// nothing written.
  func keys(of request: EnqueueRequest) async throws -> [RowKey]
  func drop() async throws
}

package enum FuzzSelection: Sendable {
  case refused
  case rows([Int])
  /// Neither: the database failed at it.
  case failed(String)
}

package struct FuzzFailure: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// A table, what it holds, and what it is to answer.
private struct FuzzTable {
  let seed: UInt64
  let declared: [(name: String, column: FuzzColumn)]
  let rows: [[String: FuzzCell]]
  let model: FuzzModel

  func isRight(_ predicate: Predicate, _ selection: FuzzSelection) -> Bool {
    switch selection {
    case .refused: !model.hasMeaning(predicate)
    case .rows(let ids): model.hasMeaning(predicate) && ids == expected(predicate)
    case .failed: false
    }
  }

  private func expected(_ predicate: Predicate) -> [Int] {
    rows.indices.filter { model.test(predicate, rows[$0]) == true }
  }

  func words(for predicate: Predicate, _ selection: FuzzSelection) -> String {
    var lines = ["seed \(seed): \(predicate.text)   (\(predicate))"]
    for name in predicate.columns {
      if let column = model.columns[name] { lines.append("  \(name) \(column.declaration)") }
    }
    let wanted = model.hasMeaning(predicate) ? Set(expected(predicate)) : nil
    switch selection {
    case .refused: lines.append("  was refused, and means something")
    case .failed(let words): lines.append("  failed: \(words)")
    case .rows(let ids):
      guard let wanted else {
        lines.append("  was taken, and means nothing")
        break
      }
      for id in rows.indices where ids.contains(id) != wanted.contains(id) {
        let cells = predicate.columns.map { "\($0) = \(rows[id][$0] ?? .null)" }
        lines.append("  \(ids.contains(id) ? "too many" : "missing"): row \(id), \(cells.joined(separator: ", "))")
      }
    }
    // A zero would end what is printed.
    return lines.joined(separator: "\n").replacing("\0", with: "\\0")
  }
}

extension Predicate {
  /// With something left out.
  fileprivate var smaller: [Predicate] {
    switch self {
    case .compare, .like, .isNull: []
    case .isIn(let column, let values):
      values.count > 8
        ? [
          .isIn(column, Array(values.prefix(values.count / 2))),
          .isIn(column, Array(values.dropFirst(values.count / 2))),
        ]
        : values.indices.map { index in
          var fewer = values
          fewer.remove(at: index)
          return .isIn(column, fewer)
        }
    case .not(let part): [part] + part.smaller.map { .not($0) }
    case .and(let parts): parts + Self.smaller(parts).map { .and($0) }
    case .or(let parts): parts + Self.smaller(parts).map { .or($0) }
    }
  }

  private static func smaller(_ parts: [Predicate]) -> [[Predicate]] {
    parts.indices.flatMap { index in
      var fewer = parts
      fewer.remove(at: index)
      return [fewer]
        + parts[index].smaller.map { smaller in
          var others = parts
          others[index] = smaller
          return others
        }
    }
  }
}
