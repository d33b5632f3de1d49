#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A client's option file, gone when it is released.
final class OptionFile: Sendable {
  let path: String

  init(_ text: String) throws {
    var template = Array("/tmp/zonai-options-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw TestFailure("cannot make a file in /tmp") }
    defer { _ = close(descriptor) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard write(descriptor, text, text.utf8.count) == text.utf8.count else { throw TestFailure("cannot write \(path)") }
  }

  deinit { unlink(path) }
}
