#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The descriptors 0, 1 and 2, which a parent may have closed.
enum StandardDescriptors {
  /// Puts /dev/null in the place of those that are closed. Otherwise the next files and sockets of this process get their
  /// numbers, and results are written into them.
  ///
  /// Opened for reading only: results that nobody can get are a failure, as with a full disk.
  static func fill() {
    for descriptor in 0...2 as ClosedRange<Int32> where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest number that is free is this one.
      let opened = open("/dev/null", O_RDONLY)
      guard opened == descriptor else {
        if opened > 2 { close(opened) }
        return
      }
    }
  }
}
