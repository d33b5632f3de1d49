import CZonaiNGHTTP2

/// The bytes of a batch as nghttp2 reads them, in memory that stays where it is until the last stream is closed.
///
/// Per request only a path is laid out, and only where the path has a hole; nghttp2 is handed pointers and copies nothing.
struct RequestMemory: ~Copyable {
  /// Where a request's value, and the path around it, lie in `bytes`.
  struct Place {
    var path: Int = 0
    var pathLength: Int = 0
    var value: Int = 0
    var valueLength: Int = 0
  }

  /// One a value of the batch.
  let places: UnsafeMutableBufferPointer<Place>
  /// The header block, of which `open` sets the path and nothing else.
  let fields: UnsafeMutableBufferPointer<nghttp2_nv>
  private let bytes: UnsafeMutableBufferPointer<UInt8>
  private let bodyPieces: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
  private let constantBodyLength: Int

  private static let pathField = 3

  init(_ batch: borrowing HTTP2Batch, authority: String, selection: [Int]) {
    let pseudo: [(String, String)] = [
      (":method", "POST"), (":scheme", "https"), (":authority", authority), (":path", ""),
    ]
    let all = pseudo + batch.fields.map { ($0.name, $0.value) }
    let values = batch.values
    let selectedBytes = selection.reduce(0) { $0 + values.range($1).count }
    let pathBytes =
      batch.path.isConstant
      ? batch.path.constantBytes + selectedBytes
      : selection.count * batch.path.constantBytes + selectedBytes * batch.path.holes
    let headerBytes = all.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count }

    bytes = .allocate(capacity: max(1, headerBytes + batch.body.constantBytes + pathBytes))
    places = .allocate(capacity: max(1, values.count))
    places.initialize(repeating: Place())
    fields = .allocate(capacity: all.count)
    bodyPieces = .allocate(capacity: batch.body.segments.count)
    constantBodyLength = batch.body.constantBytes

    var writer = Writer(bytes: bytes)
    for (index, field) in all.enumerated() {
      let name = writer.add(field.0.utf8)
      let value = writer.add(field.1.utf8)
      fields.initializeElement(
        at: index,
        to: nghttp2_nv(
          name: bytes.baseAddress.map { $0 + name.lowerBound }, value: bytes.baseAddress.map { $0 + value.lowerBound },
          namelen: name.count, valuelen: value.count,
          flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)))
    }
    for (index, segment) in batch.body.segments.enumerated() {
      bodyPieces.initializeElement(at: index, to: raw(bytes, writer.add(segment)))
    }
    values.bytes.withUnsafeBufferPointer { source in
      let constantPath = batch.path.isConstant ? writer.add(batch.path.segments[0]) : nil
      for index in selection {
        let value = UnsafeBufferPointer(rebasing: source[values.range(index)])
        if let constantPath {
          let place = writer.add(value)
          places[index] = Place(
            path: constantPath.lowerBound, pathLength: constantPath.count, value: place.lowerBound,
            valueLength: value.count)
        } else {
          let start = writer.end
          for (number, segment) in batch.path.segments.enumerated() {
            if number > 0 { _ = writer.add(value) }
            _ = writer.add(segment)
          }
          places[index] = Place(
            path: start, pathLength: writer.end - start, value: start + batch.path.segments[0].count,
            valueLength: value.count)
        }
      }
    }
  }

  deinit {
    bytes.deallocate()
    places.deallocate()
    fields.deallocate()
    bodyPieces.deallocate()
  }

  /// Points the header block at this request's path.
  func select(_ index: Int) {
    let place = places[index]
    fields[Self.pathField].value = bytes.baseAddress.map { $0 + place.path }
    fields[Self.pathField].valuelen = place.pathLength
  }

  /// Whether the path can be written without upsetting the server, and with it everybody else's requests.
  func isPathSafe(_ index: Int) -> Bool {
    let place = places[index]
    return bytes[place.path..<place.path + place.pathLength].allSatisfy { $0 > 0x20 && $0 < 0x7f }
  }

  /// Copies what comes at this place of the request's body; less than the room there is means its end.
  func copyBody(_ index: Int, from position: Int, to room: UnsafeMutableRawBufferPointer) -> Int {
    let place = places[index]
    let value = raw(bytes, place.value..<place.value + place.valueLength)
    var skip = position
    var copied = 0
    for number in 0..<bodyPieces.count {
      if number > 0 { copied += Self.copy(value, &skip, room, copied) }
      copied += Self.copy(bodyPieces[number], &skip, room, copied)
      if copied == room.count { break }
    }
    return copied
  }

  func bodyLength(_ index: Int) -> Int {
    constantBodyLength + (bodyPieces.count - 1) * places[index].valueLength
  }

  private static func copy(
    _ piece: UnsafeRawBufferPointer, _ skip: inout Int, _ room: UnsafeMutableRawBufferPointer, _ filled: Int
  ) -> Int {
    if skip >= piece.count {
      skip -= piece.count
      return 0
    }
    let count = min(piece.count - skip, room.count - filled)
    if count > 0, let source = piece.baseAddress, let target = room.baseAddress {
      (target + filled).copyMemory(from: source + skip, byteCount: count)
    }
    skip = 0
    return count
  }

  private struct Writer {
    let bytes: UnsafeMutableBufferPointer<UInt8>
    var end = 0

    mutating func add(_ source: some Collection<UInt8>) -> Range<Int> {
      let start = end
      end += source.count
      _ = UnsafeMutableBufferPointer(rebasing: bytes[start..<end]).update(fromContentsOf: source)
      return start..<end
    }
  }
}

private func raw(_ bytes: UnsafeMutableBufferPointer<UInt8>, _ range: Range<Int>) -> UnsafeRawBufferPointer {
  UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: bytes[range]))
}
