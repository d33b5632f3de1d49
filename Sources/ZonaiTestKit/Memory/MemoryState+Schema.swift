import ZonaiCore

extension MemoryState {
  mutating func migrate() throws(StoreError) -> Migration {
    if version > Self.currentVersion { try requireVersion() }
    let before = version
    version = Self.currentVersion
    return Migration(from: before, to: version)
  }

  func describe(_ name: TableName) throws(StoreError) -> TableDescription {
    guard let table = tables[name] else {
      let others = tables.keys.map(\.description).sorted().joined(separator: ", ")
      throw StoreError(
        .noSuchTable, "there is no table \(name)\(others.isEmpty ? "" : "; there are \(others)"): correct the name")
    }
    let sketch = table.sketch
    let keyColumns = Set(sketch.primaryKey + sketch.uniqueKeys.flatMap(\.self))
    return TableDescription(
      table: name,
      columns: sketch.columns.map { column in
        ColumnDescription(
          name: column.name, type: column.kind.rawValue, kind: column.kind.compared, isNullable: column.isNullable,
          holdsNull: column.isNullable && keyColumns.contains(column.name)
            && table.rows.indices.contains { table.value(column.name, of: $0).isNull },
          orderProblem: column.kind == .caseInsensitiveText ? "its collation ignores case" : nil,
          capacity: column.kind == .fixedText ? .characters(40) : nil)
      },
      primaryKey: sketch.primaryKey, uniqueKeys: sketch.uniqueKeys,
      referencedBy: tables.values.flatMap { other in
        other.sketch.references.filter { $0.table == name }.map { "\(other.sketch.name).\($0.column)" }
      }.sorted())
  }

  /// The definition with its key filled in, or what is wrong with it.
  func resolve(_ request: EnqueueRequest) throws(StoreError) -> JobDefinition {
    try AudienceRules.resolve(request, against: try describe(request.definition.audience.table))
  }
}

extension ColumnSketch.Kind {
  /// What a predicate can compare such a column with.
  var compared: ColumnKind {
    switch self {
    case .integer, .smallInteger, .boolean, .timestamp: .integer()
    case .real: .real()
    case .text, .caseInsensitiveText, .fixedText: .text()
    case .uuid: .uuid(isOrdered: true)
    case .blob: .bytes()
    case .moment, .wallClock: .moment
    }
  }
}
