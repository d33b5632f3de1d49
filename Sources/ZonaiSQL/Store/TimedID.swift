import ZonaiCore

/// Job ids: UUIDs of version 7 whose twelve bits behind the time count within one millisecond.
/// https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-7
enum TimedID {
  /// An id that sorts behind `last`, also when the clock stood still or went back.
  static func after(_ last: String?, now: Int64) -> JobID {
    var time = UInt64(max(0, now))
    var counter: UInt64 = 0
    if let last = last.flatMap(head), last.time >= time {
      time = last.time
      counter = last.counter + 1
      if counter > 0xfff {
        time += 1
        counter = 0
      }
    }
    let high = time << 16 | 0x7000 | counter
    let low = UInt64.random(in: .min ... .max) & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
    let digits = Array((bytes(high) + bytes(low)).hex.utf8)
    let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
    return JobID(parts.map { String(decoding: digits[$0], as: UTF8.self) }.joined(separator: "-"))
  }

  private static func head(_ text: String) -> (time: UInt64, counter: UInt64)? {
    let digits = text.filter { $0 != "-" }
    guard digits.utf8.count == 32, let high = UInt64(digits.prefix(16), radix: 16), high >> 12 & 0xf == 7 else {
      return nil
    }
    return (high >> 16, high & 0xfff)
  }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
  }
}
