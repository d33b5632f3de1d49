/// The questions that the table asks of an answer.
extension FCMAnswer {
  /// The most telling word of the answer; the bare status when it has none.
  func rawReason(hiding token: ArraySlice<UInt8>?) -> String {
    guard body == .service else { return "HTTP \(status)" }
    let word = errorCode ?? errorInfoReason ?? serviceStatus
    return word.map { ServiceWords.shortened($0, hiding: token) } ?? "HTTP \(status)"
  }

  /// A client error with the detail `FcmError`; 429 and statuses that pass are the service's
  /// whatever their body says.
  func carries(_ code: String) -> Bool {
    errorCode == code && body == .service && (400...499).contains(status)
  }

  /// A client error in the service's JSON without the detail `FcmError`: Google's front end speaks, not FCM.
  var isFromTheFrontEnd: Bool { body == .service && errorCode == nil && (400...499).contains(status) }

  func says(_ words: String) -> Bool { message?.lowercased().contains(words) ?? false }

  /// Whether the answer names one device as the one that gets too much: the word "device", never "devices".
  var namesTheDevice: Bool {
    ([message].compactMap { $0 } + quotaSubjects).contains { text in
      text.lowercased().split(separator: "device", omittingEmptySubsequences: false).dropFirst()
        .contains { !$0.hasPrefix("s") }
    }
  }

  var isAboutQuota: Bool { status == 429 || errorCode == "QUOTA_EXCEEDED" }

  /// The first violation's field, unless that is the token.
  var offendingField: String? {
    violations?.first { $0.field != FCMAnswer.tokenField }?.field
  }

  /// Whether a violation speaks of anything but the token.
  var violatesAnotherField: Bool { violations?.contains { $0.field != FCMAnswer.tokenField } ?? false }

  var violatesTheTokenOnly: Bool {
    guard let violations, !violations.isEmpty else { return false }
    return violations.allSatisfy { $0.field == FCMAnswer.tokenField }
  }

  /// One of the two texts by which FCM names a malformed token. Texts change, hence a part of them, in either case.
  var namesTheToken: Bool {
    says("the registration token is not a valid fcm registration token") || says("invalid registration token")
  }

  /// Whether the answer may speak of the live-activity token that the message carried.
  var mayMeanALiveActivity: Bool {
    if messageHasLiveActivityToken { return true }
    return ["live_activity", "live activity", "liveactivity"].contains { says($0) }
  }

  private static let tokenField = "message.token"
}
