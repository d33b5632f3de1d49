import ZonaiCore
import ZonaiSQL

extension PostgresDialect {
  public func appendTest(_ test: ColumnTest, of column: ColumnDescription, to builder: inout SQLBuilder) {
    switch test {
    case .compare(let comparison, let value):
      builder.compared(column)
      builder.append(comparison.sql)
      builder.bind(value, for: ColumnDescription(column, type: PostgresColumn.comparedType(column)))
    case .isIn(let values):
      // = ANY would compare each row with all of the values, one by one, before version 14 and in
      // plans made for any array; so would a join, which IN alone becomes. Beside something else it
      // is a hashed table, made once; what stands beside it here is false, and NULL where IN is
      // NULL.
      builder.append("(")
      builder.compared(column)
      builder.append(" IN (SELECT unnest(")
      builder.bindArray(values, type: PostgresColumn.comparedType(column))
      builder.append(")) OR (")
      builder.compared(column)
      builder.append(" IS NULL AND NULL))")
    case .like(let pattern):
      builder.identifier(column)
      // The blanks that fill a character(n) up are none of its text.
      if column.type == "bpchar" || !PostgresColumn.isText(column) { builder.append("::text") }
      builder.append(" LIKE ")
      builder.bind(.text(pattern))
      builder.append(" ESCAPE ''")
    case .always(let isTrue, _):
      builder.append("(")
      builder.compared(column)
      builder.append(isTrue ? " IS NOT NULL OR NULL)" : " IS NULL AND NULL)")
    }
  }
}

extension SQLBuilder {
  /// NaN is greater than every number to PostgreSQL, and equal to itself: here it is as unknown as
  /// NULL.
  fileprivate mutating func compared(_ column: ColumnDescription) {
    switch column.kind {
    case .decimal, .real:
      append("NULLIF(")
      identifier(column)
      append(", 'NaN')")
    default: identifier(column)
    }
  }
}

extension ColumnDescription {
  fileprivate init(_ column: ColumnDescription, type: String) {
    self = column
    self.type = type
  }
}
