extension JSON {
  /// How deep lists and objects may lie in one another unless said otherwise. 128 is far beyond what people and
  /// services write, and far below what a small thread's stack bears.
  public static let defaultDepthLimit = 128

  /// Reads one value from UTF-8 bytes, with nothing but white space around it. A byte order mark is passed over.
  public init(parsing bytes: some Sequence<UInt8>, depthLimit: Int = defaultDepthLimit) throws(JSONError) {
    func read(_ buffer: UnsafeBufferPointer<UInt8>) -> Result<JSON, JSONError> {
      var reader = JSONReader(bytes: buffer, depthLimit: depthLimit)
      do throws(JSONError) { return .success(try reader.document()) } catch { return .failure(error) }
    }
    let result = bytes.withContiguousStorageIfAvailable(read) ?? Array(bytes).withUnsafeBufferPointer(read)
    self = try result.get()
  }

  /// Reads one value from text.
  public init(parsing text: String, depthLimit: Int = defaultDepthLimit) throws(JSONError) {
    try self.init(parsing: text.utf8, depthLimit: depthLimit)
  }
}
