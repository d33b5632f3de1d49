import ZonaiCore

/// A setting or key with which a lane cannot be opened: one sentence that says what is wrong and what to do. It never shows
/// key material.
public struct SetupError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable {
    /// A setting is missing or has a value that cannot be.
    case badSetting
    /// The key file is not there or cannot be read.
    case unreadable
    /// It is a key or file of another kind than the one that is wanted.
    case wrongKind
    /// It is of the right kind and damaged or incomplete.
    case malformed
    /// The file was replaced by one for another project than the lane was opened for.
    case notThisLane
    /// The system has no thread, descriptor or memory left.
    case outOfResources
  }

  public let code: Code
  /// The setting: `fcm.serviceAccount`, `apns.keyFile`.
  public let setting: String
  public let sentence: String

  public init(_ code: Code, setting: String, _ sentence: String) {
    self.code = code
    self.setting = setting
    self.sentence = sentence
  }

  public var description: String { "\(setting): \(sentence)" }

  /// What it means for a job when the file was replaced while the lane was open.
  var verdict: Verdict {
    Verdict(.jobFails, fault: .credentials, reason: "keyUnusable", words: sentence, names: setting)
  }
}

/// Something about a setting that works and should not stay as it is; for the caller to show.
public struct SetupWarning: Sendable, Hashable, CustomStringConvertible {
  /// The setting: `fcm.serviceAccount`, `apns.keyFile`.
  public let setting: String
  public let sentence: String

  public var description: String { "\(setting): \(sentence)" }
}
