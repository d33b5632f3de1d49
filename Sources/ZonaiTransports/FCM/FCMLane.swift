import ZonaiCore
import ZonaiThreads

/// What an FCM transport is opened with.
struct FCMLane {
  let lane: Lane
  let projectId: String
  let tokens: AccessTokens
  let thread: ThreadExecutor
  let warnings: [SetupWarning]

  static let google = Endpoint(host: "fcm.googleapis.com")
  /// Google's scaling guide asks for it: https://firebase.google.com/docs/cloud-messaging/scale-fcm
  private static let retryFloor: Int64 = 10_000

  static func open(_ configuration: FCMConfiguration, clock: TransportClock) async throws(SetupError) -> FCMLane {
    let thread = try ThreadExecutor.opened(name: "zonai-fcm-keys", setting: ServiceAccountFile.setting)
    let endpoint = TokenEndpoint.http(caFile: configuration.caFile, timeout: configuration.requestTimeout)
    let tokens = AccessTokens(endpoint: endpoint, clock: clock, executor: thread)
    let account: AccessTokens.Account
    do throws(SetupError) {
      account = try await tokens.open(configuration.serviceAccount, oauthEndpoint: configuration.oauthEndpoint)
    } catch {
      thread.close()
      throw error
    }
    let projectId = configuration.projectId ?? account.projectId
    guard isSendable(projectId) else {
      thread.close()
      throw SetupError(
        .badSetting, setting: "fcm.projectId",
        "'\(projectId)' is no project id; it stands in the Firebase console under project settings")
    }
    let fingerprint = "fcm \(configuration.endpoint ?? google) project \(projectId)"
    // Tokens of another endpoint come from a test's server too, wherever the messages go.
    let isForTests = configuration.endpoint != nil || configuration.oauthEndpoint != nil
    let identity = LaneIdentity(
      .fcm, account: projectId, host: isForTests ? LaneIdentity.testHost : google.host)
    let lane = Lane(identity: identity, fingerprint: fingerprint, retryFloorMilliseconds: retryFloor)
    return FCMLane(
      lane: lane, projectId: projectId, tokens: tokens, thread: thread, warnings: account.warnings)
  }

  /// Whether it can stand in a path.
  private static func isSendable(_ projectId: String) -> Bool {
    !projectId.isEmpty
      && projectId.utf8.allSatisfy { byte in
        (0x61...0x7a).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "-._:".utf8.contains(byte)
      }
  }
}

extension ThreadExecutor {
  static func opened(name: String, setting: String) throws(SetupError) -> ThreadExecutor {
    do throws(ThreadStartError) {
      return try ThreadExecutor(name: name)
    } catch {
      throw SetupError(.outOfResources, setting: setting, error.description)
    }
  }
}
