/// Where a key is: in a file, which is read again when it changed, or right here. Its description hides the key.
public enum KeySource: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The path of a file. Replacing it is all that a key rotation takes.
  case file(String)
  /// The key itself: PEM for APNs, the service account's JSON for FCM.
  case inline(String)

  public var description: String {
    switch self {
    case .file(let path): path
    case .inline: "an inline key"
    }
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["source": description]) }
}
