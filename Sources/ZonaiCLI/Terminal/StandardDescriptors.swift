#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The descriptors 0, 1 and 2, which a parent may have closed.
enum StandardDescriptors {
  /// Opens /dev/null for each descriptor that is closed. Otherwise the next files and sockets of
  /// this process get these numbers, and results are written into them.
  ///
  /// It is opened for reading only: results that cannot be delivered are a failure, as with a full
  /// disk.
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
