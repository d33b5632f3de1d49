/// Rows of an audience, column by column: keys, tokens, and the columns that the caller named. Nothing else is read.
public struct Recipients: Sendable {
  public private(set) var keys = KeyList()
  public private(set) var tokens = TokenList()
  /// The platform of each row, as an index into `platforms`; 0 is "none".
  public private(set) var platformIndexes: [UInt8] = []
  /// The platforms met so far; the first stands for a row without one.
  public private(set) var platforms: [Platform] = [.unknown]
  /// The last-seen column as it was read, or empty when the audience names none. It is part of a prune's condition.
  public private(set) var lastSeen: [Value] = []

  /// The column that the tokens were read from, as the database describes it; nil when the store
  /// does not say.
  public let tokenColumn: ColumnDescription?

  public init(tokenColumn: ColumnDescription? = nil) { self.tokenColumn = tokenColumn }

  public var count: Int { tokens.count }
  public var isEmpty: Bool { tokens.isEmpty }

  public mutating func reserve(_ count: Int) {
    keys.reserve(count)
    tokens.reserve(tokens: count)
    platformIndexes.reserveCapacity(count)
  }

  /// Adds a row. `lastSeen` is nil when the audience names no such column: then it must be nil for every row.
  public mutating func append(
    key: RowKey, token: UnsafeRawBufferPointer, platform: Platform, lastSeen seen: Value? = nil
  ) {
    keys.append(key)
    append(token: token, platform: platform, lastSeen: seen)
  }

  /// Adds a row whose key is one integer, the common case, without making a `RowKey`.
  public mutating func append(
    integerKey: Int64, token: UnsafeRawBufferPointer, platform: Platform, lastSeen seen: Value? = nil
  ) {
    keys.append(integer: integerKey)
    append(token: token, platform: platform, lastSeen: seen)
  }

  public mutating func append(key: RowKey, token: String, platform: Platform = .unknown, lastSeen seen: Value? = nil) {
    var token = token
    token.withUTF8 { append(key: key, token: UnsafeRawBufferPointer($0), platform: platform, lastSeen: seen) }
  }

  private mutating func append(token: UnsafeRawBufferPointer, platform: Platform, lastSeen seen: Value?) {
    tokens.append(token)
    platformIndexes.append(index(of: platform))
    if let seen { lastSeen.append(seen) }
  }

  private mutating func index(of platform: Platform) -> UInt8 {
    if let last = platformIndexes.last, platforms[Int(last)] == platform { return last }
    if let known = platforms.firstIndex(of: platform) { return UInt8(known) }
    // More than 255 spellings in one batch: the column holds no platforms. The rest have none.
    guard platforms.count < 256 else { return 0 }
    platforms.append(platform)
    return UInt8(platforms.count - 1)
  }

  public func platform(_ index: Int) -> Platform { platforms[Int(platformIndexes[index])] }

  /// The last-seen value of one row as it was read; nil when the audience names no such column.
  public func lastSeen(_ index: Int) -> Value? { lastSeen.isEmpty ? nil : lastSeen[index] }
}

/// Keys, one after another; a key of one integer column costs eight bytes.
public struct KeyList: Sendable {
  private var integers: [Int64] = []
  private var others: [RowKey] = []

  public init() {}

  public var count: Int { others.isEmpty ? integers.count : others.count }

  mutating func reserve(_ count: Int) { integers.reserveCapacity(count) }

  public mutating func append(integer: Int64) {
    if others.isEmpty { integers.append(integer) } else { others.append(RowKey([.integer(integer)])) }
  }

  public mutating func append(_ key: RowKey) {
    if others.isEmpty, key.values.count == 1, case .integer(let integer) = key.values[0] {
      integers.append(integer)
      return
    }
    if others.isEmpty {
      others = integers.map { RowKey([.integer($0)]) }
      integers = []
    }
    others.append(key)
  }

  public subscript(index: Int) -> RowKey {
    others.isEmpty ? RowKey([.integer(integers[index])]) : others[index]
  }
}

extension KeyList: CustomStringConvertible, CustomReflectable {
  public var description: String { "\(count) keys" }
  public var customMirror: Mirror { Mirror(self, children: ["count": count]) }
}

extension Recipients: CustomStringConvertible, CustomReflectable {
  public var description: String { "\(count) recipients" }
  public var customMirror: Mirror { Mirror(self, children: ["count": count]) }
}
