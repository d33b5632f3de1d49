import CZonaiPostgres
import ZonaiCore
import ZonaiSQL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One result of the server, freed with its last reference.
final class PostgresResult {
  let handle: OpaquePointer
  let rowCount: Int32
  let columnCount: Int32
  /// Where the bytes of the last `bytea` that was asked for lie.
  private var decoded = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  init(_ handle: OpaquePointer) {
    self.handle = handle
    rowCount = PQntuples(handle)
    columnCount = PQnfields(handle)
  }

  deinit {
    decoded.deallocate()
    PQclear(handle)
  }

  func type(_ column: Int) -> Oid { PQftype(handle, Int32(column)) }

  /// How many rows an INSERT, UPDATE or DELETE changed; 0 for everything else.
  var changedRows: Int {
    // The tag of a SELECT counts too.
    guard let tag = PQcmdStatus(handle), tag[0] != CChar(bitPattern: UInt8(ascii: "S")),
      let count = PQcmdTuples(handle)
    else { return 0 }
    return Int(strtol(count, nil, 10))
  }

  /// The command that ended: "COMMIT", "UPDATE 3".
  var tag: String { PQcmdStatus(handle).map { String(cString: $0) } ?? "" }

  /// A part of an error; nil when it has none.
  func field(_ code: Int32) -> String? { PQresultErrorField(handle, code).map { String(cString: $0) } }

  /// Whether the server ends the connection with it.
  var isFatal: Bool {
    let severity = field(PostgresError.severity)
    return severity == "FATAL" || severity == "PANIC"
  }

  /// The bytes of a value as the server wrote it, without the padding of `character(n)`.
  fileprivate func bytes(_ row: Int32, _ column: Int) -> UnsafeRawBufferPointer {
    guard let start = PQgetvalue(handle, row, Int32(column)) else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    var count = Int(PQgetlength(handle, row, Int32(column)))
    if type(column) == PostgresType.bpchar {
      while count > 0, start[count - 1] == CChar(bitPattern: UInt8(ascii: " ")) { count -= 1 }
    }
    return UnsafeRawBufferPointer(start: start, count: count)
  }

  fileprivate func decodedBytes(_ row: Int32, _ column: Int) -> UnsafeRawBufferPointer {
    // bytea_output is set to hex: \x6162.
    let digits = bytes(row, column).dropFirst(2)
    decoded.deallocate()
    decoded = .allocate(byteCount: digits.count / 2, alignment: 1)
    var index = digits.startIndex
    for place in decoded.indices {
      decoded[place] = (digits[index].hexDigit ?? 0) << 4 | (digits[index + 1].hexDigit ?? 0)
      index += 2
    }
    return UnsafeRawBufferPointer(decoded)
  }
}

/// The types whose values are not text. https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat
enum PostgresType {
  static let boolean: Oid = 16
  static let bytea: Oid = 17
  static let int8: Oid = 20
  static let int2: Oid = 21
  static let int4: Oid = 23
  static let oid: Oid = 26
  static let float4: Oid = 700
  static let float8: Oid = 701
  /// `character(n)`. The blanks that fill it up are not part of its value.
  static let bpchar: Oid = 1042
}

/// One row of a result.
public struct PostgresRow: SQLRow {
  let result: PostgresResult
  let row: Int32

  public var columnCount: Int { Int(result.columnCount) }

  public func name(_ column: Int) -> String {
    PQfname(result.handle, Int32(column)).map { String(cString: $0) } ?? ""
  }

  public func isNull(_ column: Int) -> Bool { PQgetisnull(result.handle, row, Int32(column)) == 1 }

  public func integer(_ column: Int) -> Int64 {
    let written = result.bytes(row, column)
    var number: Int64 = 0
    var isNegative = false
    for (index, byte) in written.enumerated() {
      switch byte {
      case UInt8(ascii: "-") where index == 0: isNegative = true
      // Counted downwards: the smallest integer has no positive counterpart.
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number &* 10 &- Int64(byte &- UInt8(ascii: "0"))
      case UInt8(ascii: "t") where index == 0: return 1
      default: return isNegative ? number : 0 &- number
      }
    }
    return isNegative ? number : 0 &- number
  }

  public func text(_ column: Int) -> String { String(decoding: result.bytes(row, column), as: UTF8.self) }

  public func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    result.type(column) == PostgresType.bytea && !isNull(column)
      ? result.decodedBytes(row, column) : result.bytes(row, column)
  }

  public func token(_ column: Int) -> UnsafeRawBufferPointer { bytes(column) }

  public func value(_ column: Int) -> Value {
    if isNull(column) { return .null }
    switch result.type(column) {
    case PostgresType.int8, PostgresType.int4, PostgresType.int2, PostgresType.oid: return .integer(integer(column))
    case PostgresType.boolean: return .boolean(integer(column) == 1)
    case PostgresType.float8, PostgresType.float4:
      return Double(text(column)).map { .real($0) } ?? .text(text(column))
    case PostgresType.bytea: return .bytes(Array(bytes(column)))
    default:
      // Another encoding than UTF-8 comes through only where the database has none (SQL_ASCII).
      if let text = String(validating: bytes(column), as: UTF8.self) { return .text(text) }
      return .bytes(Array(bytes(column)))
    }
  }

  /// Numbers with a fraction come as the server's own text, which it reads back exactly.
  public func keyValue(_ column: Int) throws(StoreError) -> Value {
    switch result.type(column) {
    case PostgresType.float8, PostgresType.float4: return isNull(column) ? .null : .text(text(column))
    case PostgresType.bytea: return value(column)
    default:
      let value = value(column)
      guard case .bytes = value else { return value }
      throw StoreError(
        .failed,
        "some row holds text in the key column \(name(column)) that is not UTF-8, and pages cannot go on from it: correct "
          + "the row, or name another key")
    }
  }
}
