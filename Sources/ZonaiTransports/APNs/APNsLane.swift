import ZonaiCore
import ZonaiThreads

/// What an APNs transport is opened with.
struct APNsLane {
  let lane: Lane
  let credentials: APNsCredentials
  let thread: ThreadExecutor
  let warnings: [SetupWarning]

  static func open(
    _ configuration: APNsConfiguration, clock: TransportClock, registry: ProviderTokenRegistry
  ) async throws(SetupError) -> APNsLane {
    try check(configuration)
    let thread = try ThreadExecutor.opened(name: "zonai-apns-keys", setting: "apns.keyFile")
    let credentials = APNsCredentials(configuration: configuration, clock: clock, registry: registry, executor: thread)
    let warnings: [SetupWarning]
    do throws(SetupError) {
      warnings = try await credentials.open()
    } catch {
      thread.close()
      throw error
    }
    let environment = configuration.useSandbox ? "sandbox" : "production"
    let fingerprint =
      "apns \(configuration.effectiveEndpoint) \(environment) team \(configuration.teamId) key \(configuration.keyId) "
      + "bundle \(configuration.bundleId)"
    let identity = LaneIdentity(
      .apns, environment: environment, account: configuration.teamId, bundleID: configuration.bundleId,
      host: configuration.endpoint == nil ? configuration.effectiveEndpoint.host : LaneIdentity.testHost)
    return APNsLane(
      lane: Lane(identity: identity, fingerprint: fingerprint), credentials: credentials, thread: thread,
      warnings: warnings)
  }

  private static func check(_ configuration: APNsConfiguration) throws(SetupError) {
    let ids = [
      ("apns.keyId", configuration.keyId, "the file's name, AuthKey_….p8"),
      ("apns.teamId", configuration.teamId, "the membership page at developer.apple.com"),
    ]
    for (setting, id, place) in ids where id.utf8.count != 10 || !id.utf8.allSatisfy(\.isAlphanumeric) {
      throw SetupError(
        .badSetting, setting: setting, "'\(id.prefix(40))' is not ten letters and digits; look it up in \(place)")
    }
    let bundleId = configuration.bundleId
    let isBundleId =
      !bundleId.isEmpty && bundleId.utf8.allSatisfy { $0.isAlphanumeric || "-._".utf8.contains($0) }
    guard isBundleId else {
      throw SetupError(
        .badSetting, setting: "apns.bundleId",
        "'\(bundleId.prefix(80))' is no bundle id, such as com.example.app; take it from the application's target in Xcode"
      )
    }
  }
}

extension UInt8 {
  fileprivate var isAlphanumeric: Bool { (0x61...0x7a).contains(self | 0x20) || (0x30...0x39).contains(self) }
}
