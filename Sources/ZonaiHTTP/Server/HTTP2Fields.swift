import CZonaiNGHTTP2

/// The header fields of an answer in the form that libnghttp2 takes: names and values in one block, and pointers to it.
struct HTTP2Fields {
  private var block: [UInt8] = []
  private var ends: [Int] = []

  init(_ response: ServerResponse) {
    block.reserveCapacity(256)
    add(":status", String(response.status))
    for header in response.headers { add(header.name, header.value) }
    if !response.body.isEmpty { add("content-length", String(response.body.count)) }
  }

  private mutating func add(_ name: String, _ value: String) {
    block.append(contentsOf: name.utf8)
    ends.append(block.count)
    block.append(contentsOf: value.utf8)
    ends.append(block.count)
  }

  /// The pairs live only during the call; libnghttp2 copies what it is given.
  mutating func withPairs<Result>(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Result) -> Result {
    let ends = ends
    return block.withUnsafeMutableBufferPointer { block in
      let pairs = stride(from: 0, to: ends.count, by: 2).map { index in
        let start = index == 0 ? 0 : ends[index - 1]
        return nghttp2_nv(
          name: block.baseAddress.map { $0 + start }, value: block.baseAddress.map { $0 + ends[index] },
          namelen: ends[index] - start, valuelen: ends[index + 1] - ends[index],
          flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
      }
      return pairs.withUnsafeBufferPointer(body)
    }
  }
}
