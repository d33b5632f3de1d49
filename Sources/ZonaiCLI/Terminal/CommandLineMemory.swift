#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The command line as others see it: `ps` shows what stands in the process's own memory.
enum CommandLineMemory {
  /// Takes the password out of a store's URL there, as soon as the process has begun. Before that everybody could read it.
  ///
  /// Linux alone says where that memory is; elsewhere, and where it says nothing, all stays as it is.
  static func hidePassword(of words: [String]) {
    #if os(Linux)
      guard let place = place() else { return }
      // The words lie one behind the other, each with a zero at its end; the first is the program's name.
      var start = place.lowerBound
      for (index, word) in words.enumerated() {
        let length = word.utf8.count
        guard start + UInt(length) <= place.upperBound else { return }
        if let value = storeValue(word, after: index > 0 ? words[index - 1] : "") {
          let hidden = HiddenPassword.hiding(in: value)
          if hidden != value {
            let offset = length - value.utf8.count
            overwrite(start + UInt(offset), length: value.utf8.count, was: value, with: hidden)
          }
        }
        start += UInt(length) + 1
      }
    #endif
  }

  #if os(Linux)
    private static func storeValue(_ word: String, after previous: String) -> String? {
      if previous == StoreOptions.store.name { return word }
      let prefix = StoreOptions.store.name + "="
      return word.hasPrefix(prefix) ? String(word.dropFirst(prefix.count)) : nil
    }

    private static func overwrite(_ address: UInt, length: Int, was value: String, with hidden: String) {
      guard let bytes = UnsafeMutablePointer<UInt8>(bitPattern: address) else { return }
      // A memory that does not hold what was given is left alone.
      guard UnsafeBufferPointer(start: bytes, count: length).elementsEqual(value.utf8) else { return }
      var rest = Array(hidden.utf8)[...]
      for index in 0..<length { bytes[index] = rest.popFirst() ?? 0 }
    }

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
