import ZonaiCore

/// One of the application's tables, in memory: rows in the order of their insertion, and sorted views for the keys that
/// somebody asked for.
struct MemoryTable: Sendable {
  private(set) var sketch: TableSketch
  private var positions: [String: Int]
  private(set) var rows: [[Value]] = []
  private var sorted: [[String]: [Int]] = [:]

  init(_ sketch: TableSketch) {
    self.sketch = sketch
    positions = Self.positions(in: sketch)
  }

  private static func positions(in sketch: TableSketch) -> [String: Int] {
    Dictionary(sketch.columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  var columnNames: [String] { sketch.columns.map(\.name) }

  func position(of column: String) -> Int? { positions[column] }

  func value(_ column: String, of row: Int) -> Value {
    positions[column].map { rows[row][$0] } ?? .null
  }

  func key(_ columns: [String], of row: Int) -> RowKey { RowKey(columns.map { value($0, of: row) }) }

  mutating func insert(_ row: [String: Value]) {
    rows.append(sketch.columns.map { row[$0.name] ?? .null })
    sorted = [:]
  }

  mutating func set(_ column: String, to value: Value, at row: Int) {
    guard let position = positions[column] else { return }
    rows[row][position] = value
    sorted = sorted.filter { !$0.key.contains(column) }
  }

  mutating func alter(_ change: TableChange) {
    switch change {
    case .add(let column):
      sketch.columns.append(column)
      for row in rows.indices { rows[row].append(.null) }
    case .drop(let column):
      guard let position = positions[column] else { return }
      sketch.columns.remove(at: position)
      for row in rows.indices { rows[row].remove(at: position) }
    case .rename(let column, let name):
      guard let position = positions[column] else { return }
      sketch.columns[position].name = name
    }
    positions = Self.positions(in: sketch)
    sorted = [:]
  }

  mutating func remove(at row: Int) {
    rows.remove(at: row)
    sorted = [:]
  }

  /// The positions of all rows in the order of these columns.
  mutating func order(by columns: [String]) -> [Int] {
    if let known = sorted[columns] { return known }
    let keys = rows.indices.map { key(columns, of: $0) }
    let order = rows.indices.sorted { ValueOrder.compare(keys[$0], keys[$1]) < 0 }
    sorted[columns] = order
    return order
  }

  /// The row with this key, found by the key's own order.
  mutating func find(_ key: RowKey, by columns: [String]) -> Int? {
    let order = order(by: columns)
    let place = firstPlace(in: order) { ValueOrder.compare(self.key(columns, of: $0), key) >= 0 }
    guard place < order.count, ValueOrder.same(self.key(columns, of: order[place]), key) else { return nil }
    return order[place]
  }

  /// The places in `order(by:)` of the keys after `from` up to and including `to`.
  mutating func places(after from: RowKey?, upTo to: RowKey?, by columns: [String]) -> Range<Int> {
    let order = order(by: columns)
    let start = from.map { from in
      firstPlace(in: order) { ValueOrder.compare(key(columns, of: $0), from) > 0 }
    }
    let end = to.map { to in
      firstPlace(in: order) { ValueOrder.compare(key(columns, of: $0), to) > 0 }
    }
    return (start ?? 0)..<max(start ?? 0, end ?? order.count)
  }

  /// The first place whose row satisfies `isReached`, which holds for all rows behind it too.
  private func firstPlace(in order: [Int], where isReached: (Int) -> Bool) -> Int {
    var low = 0
    var high = order.count
    while low < high {
      let middle = (low + high) / 2
      if isReached(order[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
