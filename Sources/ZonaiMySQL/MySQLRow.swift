import CZonaiMySQL
import ZonaiCore
import ZonaiSQL

/// What the columns of a statement's result are, and the memory that rows are fetched into.
final class MySQLResult {
  /// A column as the server describes it. While this stays the same, so does the memory.
  private struct Shape: Equatable {
    var type: enum_field_types
    var isUnsigned: Bool
    var charset: UInt32
    var length: UInt

    init(_ field: MYSQL_FIELD) {
      type = field.type
      isUnsigned = field.flags & UInt32(UNSIGNED_FLAG) != 0
      charset = field.charsetnr
      length = UInt(field.length)
    }
  }

  /// How a column comes to us.
  enum Form {
    case integer, unsigned, real, float, bits
    /// Text, and everything that has no other form here: decimals with all their digits, moments.
    case text
    case bytes
  }

  let columns: [Form]
  private let shapes: [Shape]
  /// Of the execution that the rows come from.
  private var metadata: UnsafeMutablePointer<MYSQL_RES>
  let row: UnsafeMutablePointer<zonai_mysql_row>
  private let statement: UnsafeMutablePointer<MYSQL_STMT>
  /// Numbers as text, for who asks for their bytes.
  private let digits: UnsafeMutableRawBufferPointer
  private static let digitsEach = 32

  /// nil when there is no memory or the library refuses; its error is the statement's then.
  init?(_ statement: UnsafeMutablePointer<MYSQL_STMT>, _ metadata: UnsafeMutablePointer<MYSQL_RES>) {
    let count = Int(mysql_num_fields(metadata))
    guard let fields = mysql_fetch_fields(metadata), let row = zonai_mysql_row_make(UInt32(count)) else { return nil }
    var columns: [Form] = []
    var shapes: [Shape] = []
    columns.reserveCapacity(count)
    shapes.reserveCapacity(count)
    for index in 0..<count {
      let field = fields[index]
      let form = MySQLResult.form(of: field)
      columns.append(form)
      shapes.append(Shape(field))
      let (type, room) = MySQLResult.place(for: form, length: Int(clamping: field.length))
      guard zonai_mysql_row_want(row, UInt32(index), type, form == .unsigned ? 1 : 0, room) != 0 else {
        zonai_mysql_row_free(row)
        return nil
      }
    }
    self.columns = columns
    self.shapes = shapes
    self.metadata = metadata
    self.row = row
    self.statement = statement
    digits = .allocate(byteCount: count * MySQLResult.digitsEach, alignment: 1)
  }

  /// Takes the rows of another execution, if their columns are what they were.
  func takes(_ metadata: UnsafeMutablePointer<MYSQL_RES>) -> Bool {
    guard Int(mysql_num_fields(metadata)) == shapes.count, let fields = mysql_fetch_fields(metadata) else {
      return false
    }
    for index in shapes.indices where shapes[index] != Shape(fields[index]) { return false }
    self.metadata = metadata
    return true
  }

  /// Whether one value took so much room that the memory is not worth keeping.
  private(set) var isLarge = false
  private static let largest: UInt = 65_536

  fileprivate func name(_ column: Int) -> String {
    mysql_fetch_fields(metadata)?[column].name.map { String(cString: $0) } ?? ""
  }

  /// Whether the column is BINARY(n).
  fileprivate func isFilledUp(_ column: Int) -> Bool {
    columns[column] == .bytes && shapes[column].type == MYSQL_TYPE_STRING
  }

  deinit {
    zonai_mysql_row_free(row)
    digits.deallocate()
  }

  fileprivate func digits(_ text: String, of column: Int) -> UnsafeRawBufferPointer {
    let start = column * MySQLResult.digitsEach
    let place = UnsafeMutableRawBufferPointer(rebasing: digits[start..<start + MySQLResult.digitsEach])
    let count = min(text.utf8.count, place.count)
    place.copyBytes(from: text.utf8.prefix(count))
    return UnsafeRawBufferPointer(rebasing: place[..<count])
  }

  /// Names the memory to the library; false when it refuses.
  func bind() -> Bool { zonai_mysql_row_bind(statement, row) == 0 }

  /// Gets the rest of values that were longer than their room; false when the library refuses. The room stays, so the next
  /// row needs this less often.
  func completeRow() -> Bool {
    var grew = false
    for index in columns.indices {
      let column = UInt32(index)
      guard columns[index] == .text || columns[index] == .bytes, zonai_mysql_row_is_null(row, column) == 0,
        zonai_mysql_row_length(row, column) > zonai_mysql_row_room(row, column)
      else { continue }
      guard zonai_mysql_row_refetch(statement, row, column) == 0 else { return false }
      grew = true
      if zonai_mysql_row_room(row, column) > MySQLResult.largest { isLarge = true }
    }
    return !grew || bind()
  }

  private static func form(of field: MYSQL_FIELD) -> Form {
    switch field.type {
    case MYSQL_TYPE_TINY, MYSQL_TYPE_SHORT, MYSQL_TYPE_INT24, MYSQL_TYPE_LONG, MYSQL_TYPE_LONGLONG, MYSQL_TYPE_YEAR:
      field.flags & UInt32(UNSIGNED_FLAG) == 0 ? .integer : .unsigned
    case MYSQL_TYPE_DOUBLE: .real
    case MYSQL_TYPE_FLOAT: .float
    case MYSQL_TYPE_BIT: .bits
    case MYSQL_TYPE_STRING, MYSQL_TYPE_VAR_STRING, MYSQL_TYPE_VARCHAR, MYSQL_TYPE_BLOB, MYSQL_TYPE_TINY_BLOB,
      MYSQL_TYPE_MEDIUM_BLOB, MYSQL_TYPE_LONG_BLOB, MYSQL_TYPE_GEOMETRY:
      // 63 is the character set of what is no text.
      field.charsetnr == 63 ? .bytes : .text
    default: .text
    }
  }

  private static func place(for form: Form, length: Int) -> (enum_field_types, Int) {
    switch form {
    case .integer, .unsigned: (MYSQL_TYPE_LONGLONG, 8)
    case .real: (MYSQL_TYPE_DOUBLE, 8)
    case .float: (MYSQL_TYPE_FLOAT, 4)
    case .bits: (MYSQL_TYPE_BLOB, 8)
    case .text: (MYSQL_TYPE_STRING, min(max(length, 64), 1024))
    case .bytes: (MYSQL_TYPE_BLOB, min(max(length, 64), 1024))
    }
  }
}

/// The row that was fetched last.
public struct MySQLRow: SQLRow {
  let result: MySQLResult

  public var columnCount: Int { result.columns.count }
  public func name(_ column: Int) -> String { result.name(column) }
  public func isNull(_ column: Int) -> Bool { zonai_mysql_row_is_null(result.row, UInt32(column)) != 0 }

  private func place(_ column: Int) -> UnsafeRawPointer? { zonai_mysql_row_bytes(result.row, UInt32(column)) }

  public func integer(_ column: Int) -> Int64 {
    guard !isNull(column), let place = place(column) else { return 0 }
    switch result.columns[column] {
    case .integer: return place.loadUnaligned(as: Int64.self)
    case .unsigned: return Int64(clamping: place.loadUnaligned(as: UInt64.self))
    case .real: return Int64(exactly: place.loadUnaligned(as: Double.self).rounded(.towardZero)) ?? 0
    case .float: return Int64(exactly: place.loadUnaligned(as: Float.self).rounded(.towardZero)) ?? 0
    case .bits: return Int64(clamping: bits(column))
    // Sums are decimals.
    case .text, .bytes: return Int64(text(column).prefix { $0 != "." }) ?? 0
    }
  }

  public func text(_ column: Int) -> String { String(decoding: bytes(column), as: UTF8.self) }

  public func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    guard !isNull(column) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    switch result.columns[column] {
    case .text, .bytes: return fetched(column)
    case .integer, .unsigned, .real, .float, .bits: return result.digits(MySQLRow.words(value(column)), of: column)
    }
  }

  /// BINARY(n) comes filled up with zeros; VARBINARY and CHAR come as they are.
  public func token(_ column: Int) -> UnsafeRawBufferPointer {
    let bytes = bytes(column)
    guard result.isFilledUp(column), let last = bytes.lastIndex(where: { $0 != 0 }) else {
      return result.isFilledUp(column) ? UnsafeRawBufferPointer(start: nil, count: 0) : bytes
    }
    return UnsafeRawBufferPointer(rebasing: bytes[...last])
  }

  private static func words(_ number: Value) -> String {
    switch number {
    case .integer(let number): String(number)
    case .real(let number): "\(number)"
    case .text(let digits): digits
    case .null, .boolean, .bytes: ""
    }
  }

  private func fetched(_ column: Int) -> UnsafeRawBufferPointer {
    let place = place(column)
    let count = Int(clamping: zonai_mysql_row_length(result.row, UInt32(column)))
    return UnsafeRawBufferPointer(start: place, count: place == nil ? 0 : count)
  }

  /// BIT columns come as bytes, the highest first.
  private func bits(_ column: Int) -> UInt64 { fetched(column).reduce(0) { $0 << 8 | UInt64($1) } }

  public func value(_ column: Int) -> Value {
    guard !isNull(column), let place = place(column) else { return .null }
    switch result.columns[column] {
    case .integer: return .integer(place.loadUnaligned(as: Int64.self))
    case .unsigned: return MySQLRow.value(place.loadUnaligned(as: UInt64.self))
    case .real: return .real(place.loadUnaligned(as: Double.self))
    case .float: return .real(Double(place.loadUnaligned(as: Float.self)))
    case .bits: return MySQLRow.value(bits(column))
    case .bytes: return .bytes(Array(fetched(column)))
    case .text:
      guard let text = String(validating: fetched(column), as: UTF8.self) else { return .bytes(Array(fetched(column))) }
      return .text(text)
    }
  }

  /// A number that 63 bits do not hold is its digits.
  private static func value(_ unsigned: UInt64) -> Value {
    Int64(exactly: unsigned).map { .integer($0) } ?? .text(String(unsigned))
  }

  public func keyValue(_ column: Int) throws(StoreError) -> Value {
    let value = value(column)
    guard case .bytes = value, result.columns[column] == .text else { return value }
    throw StoreError(
      .failed,
      "some row holds text in the key column \(name(column)) that is not UTF-8, and pages cannot go on from it: correct "
        + "the row, or name another key")
  }
}
