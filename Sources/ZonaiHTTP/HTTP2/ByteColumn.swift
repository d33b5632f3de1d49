/// Many short byte strings in one piece of memory, such as the tokens of a batch.
public struct ByteColumn: Sendable {
  /// All bytes, one value after the other.
  public private(set) var bytes: [UInt8] = []
  /// Where each value ends in `bytes`.
  public private(set) var ends: [Int] = []

  public init() {}

  /// Sets memory aside for so many values of so many bytes in all.
  public init(capacity: Int, bytes: Int) {
    ends.reserveCapacity(capacity)
    self.bytes.reserveCapacity(bytes)
  }

  /// Takes over values that already lie one after the other; each end is at least the one before it, and the last is the
  /// number of bytes.
  public init(bytes: [UInt8], ends: [Int]) {
    self.bytes = bytes
    self.ends = ends
  }

  public var count: Int { ends.count }

  public mutating func append(_ value: some Sequence<UInt8>) {
    bytes.append(contentsOf: value)
    ends.append(bytes.count)
  }

  public subscript(index: Int) -> ArraySlice<UInt8> { bytes[range(index)] }

  func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }
}

/// Constant bytes with a hole wherever two of them meet, in which each request's own value goes.
///
/// One segment is a constant; two have one hole; an empty segment puts a hole at an end.
public struct ByteTemplate: Sendable {
  public let segments: [[UInt8]]

  /// The same bytes for every request.
  public init(_ constant: some Sequence<UInt8>) { segments = [Array(constant)] }

  /// A hole between each two segments.
  public init(segments: [[UInt8]]) { self.segments = segments.isEmpty ? [[]] : segments }

  var isConstant: Bool { segments.count == 1 }
  var holes: Int { segments.count - 1 }
  var constantBytes: Int { segments.reduce(0) { $0 + $1.count } }
}
