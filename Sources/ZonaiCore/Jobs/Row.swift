/// A whole row of the application's table, as the hook sees it: every column, in the table's order.
public struct Row: Sendable, Hashable {
  public let columns: [String]
  public let values: [Value]

  public init(columns: [String], values: [Value]) {
    self.columns = columns
    self.values = values
  }

  /// The column's value; nil when the table has no such column.
  public subscript(column: String) -> Value? {
    columns.firstIndex(of: column).map { values[$0] }
  }
}
