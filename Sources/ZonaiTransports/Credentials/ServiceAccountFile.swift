/// A service account with the source that it came from, read again when the file changed.
///
/// Confined to the thread of the `AccessTokens` that owns it.
final class ServiceAccountFile {
  private(set) var account: ServiceAccount
  private(set) var target: TokenEndpoint.Target
  let warning: SetupWarning?
  private let source: KeySource
  private let oauthEndpoint: Endpoint?
  private var stamp: KeyFile.Stamp?

  static let setting = "fcm.serviceAccount"

  init(_ source: KeySource, oauthEndpoint: Endpoint?) throws(SetupError) {
    let file = try KeyFile(reading: source, setting: ServiceAccountFile.setting)
    let account = try ServiceAccount(json: file.text, source: source, setting: ServiceAccountFile.setting)
    self.account = account
    target = try TokenEndpoint.Target(
      tokenURI: account.tokenURI, override: oauthEndpoint, setting: ServiceAccountFile.setting)
    warning = file.warning
    self.source = source
    self.oauthEndpoint = oauthEndpoint
    stamp = file.stamp
  }

  /// Whether another key was read. When it throws, the old one stays, and the file is read again next time.
  func readIfChanged() throws(SetupError) -> Bool {
    guard let now = KeyFile.stamp(of: source), now != stamp else { return false }
    let file = try KeyFile(reading: source, setting: ServiceAccountFile.setting)
    let replaced = try ServiceAccount(json: file.text, source: source, setting: ServiceAccountFile.setting)
    guard replaced.projectId == account.projectId else {
      throw SetupError(
        .notThisLane, setting: ServiceAccountFile.setting,
        "\(source) now belongs to the project \(replaced.projectId), and this process sends for "
          + "\(account.projectId); start it anew to send for the other project")
    }
    target = try TokenEndpoint.Target(
      tokenURI: replaced.tokenURI, override: oauthEndpoint, setting: ServiceAccountFile.setting)
    account = replaced
    stamp = file.stamp
    return true
  }
}
