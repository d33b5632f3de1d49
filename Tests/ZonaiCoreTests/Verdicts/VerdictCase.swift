import Testing

@testable import ZonaiCore

/// One answer and what it has to mean, in short.
struct VerdictCase<Answer: Sendable>: Sendable, CustomTestStringConvertible {
  let name: String
  let answer: Answer
  /// `outcome fault evidence retry`, with `-` for what is nil, and the fault when the answer is
  /// repeated, if that differs.
  let expected: String
  var testDescription: String { name }

  init(_ name: String, _ answer: Answer, _ expected: String) {
    self.name = name
    self.answer = answer
    self.expected = expected
  }
}

extension Verdict {
  var inShort: String {
    "\(outcome) \(fault.map { "\($0)" } ?? "-") \(evidence.map { "\($0)" } ?? "-") \(retry)"
      + (faultWhenRepeated.map { ", repeated \($0)" } ?? "")
  }
}

/// The kinds that most answers fall into.
enum Kind {
  static let delivered = "delivered - - never"
  static let dead = "permanentlyRejected recipient conclusive never"
  static let tokenNamed = "permanentlyRejected recipient tokenNamed never"
  static let namesNothing = "permanentlyRejected recipient namesNothing never"
  static let aboutLane = "permanentlyRejected recipient aboutLane never"
  static let throttled = "transientlyFailed recipient - attempts"
  static let setting = "transientlyFailed configuration - never"
  static let laneSetting = "jobFails configuration - never"
  static let foreign = "transientlyFailed service - attempts, repeated configuration"
  static let message = "jobFails message - never"
  static let credentials = "jobFails credentials - never"
  static let service = "transientlyFailed service - attempts"
  static let notHandled = "transientlyFailed connection - free"
  static let unknown = "transientlyFailed unknown - once"
}

/// Chance that can be repeated.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  // https://prng.di.unimi.it/splitmix64.c
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
