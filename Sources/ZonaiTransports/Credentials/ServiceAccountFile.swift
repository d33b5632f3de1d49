/// A service account with the source that it came from, read again when the file changed.
///
/// Confined to the thread of the `AccessTokens` that owns it.
final class ServiceAccountFile {
  private(set) var account: ServiceAccount
  private(set) var target: TokenEndpoint.Target
  let warnings: [SetupWarning]
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
    warnings = file.warnings(source, ServiceAccountFile.setting, account.repairs)
    self.source = source
    self.oauthEndpoint = oauthEndpoint
    stamp = file.stamp
  }

  /// Whether another key was read. A file that cannot be used now may be half written: the old key stays, and the file is
  /// read again next time.
  func readIfChanged() -> Bool {
    guard case .file = source else { return false }
    let now = KeyFile.stamp(of: source)
    if now != nil, now == stamp {
      problem = nil
      return false
    }
    do throws(SetupError) {
      try read()
      problem = nil
      return true
    } catch {
      problem = error
      return false
    }
  }

  private func read() throws(SetupError) {
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
  }

  /// Why the file, as it is now, is not used.
  private(set) var problem: SetupError?
}
