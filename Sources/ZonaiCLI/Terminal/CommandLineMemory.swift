#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The command line as others see it: `ps` shows what stands in the process's own memory.
enum CommandLineMemory {
  /// Takes the password out of a store's URL there, as soon as the process has begun. Before that
  /// others could read it.
  ///
  /// Only Linux says where that memory is. Elsewhere, and where it says nothing, everything stays
  /// as it is.
  static func hidePasswords() {
    #if os(Linux)
      guard let place = place() else { return }
      hidePasswords(
        in: UnsafeMutableRawBufferPointer(
          start: UnsafeMutableRawPointer(bitPattern: place.lowerBound), count: place.count))
    #endif
  }

  /// The memory holds the words one after the other, each with a zero at its end. They are bytes,
  /// which need not be text.
  static func hidePasswords(in memory: UnsafeMutableRawBufferPointer) {
    let option = Array(StoreOptions.store.name.utf8)
    let assignment = option + [UInt8(ascii: "=")]
    var start = 0
    var isValue = false
    while start < memory.count {
      let end = memory[start...].firstIndex(of: 0) ?? memory.count
      let word = memory[start..<end]
      if isValue {
        hidePassword(in: UnsafeMutableRawBufferPointer(rebasing: word))
      } else if word.starts(with: assignment) {
        hidePassword(in: UnsafeMutableRawBufferPointer(rebasing: word.dropFirst(assignment.count)))
      }
      isValue = word.elementsEqual(option)
      start = end + 1
    }
  }

  /// A value that is not UTF-8 is refused later; all of it goes, since it cannot be taken apart.
  private static func hidePassword(in value: UnsafeMutableRawBufferPointer) {
    let hidden = String(validating: value, as: UTF8.self).map { HiddenPassword.hiding(in: $0) } ?? ""
    // Longer than what it replaces it never is.
    for (index, byte) in zip(value.indices, Array(hidden.utf8) + repeatElement(0, count: value.count)) {
      value[index] = byte
    }
  }

  #if os(Linux)
    /// Where the arguments lie: the fields arg_start and arg_end.
    /// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    private static func place() -> Range<UInt>? {
      let descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0, let text = TextFile.read(descriptor: descriptor) else { return nil }
      close(descriptor)
      let line = String(decoding: text, as: UTF8.self)
      // The second field, the program's name, may hold anything and ends with the last parenthesis.
      guard let end = line.lastIndex(of: ")") else { return nil }
      let fields = line[line.index(after: end)...].split(separator: " ")
      guard fields.count > 46, let from = UInt(fields[45]), let to = UInt(fields[46]), from > 0, from < to else {
        return nil
      }
      return from..<to
    }
  #endif
}
