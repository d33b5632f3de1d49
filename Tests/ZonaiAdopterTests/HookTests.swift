import Testing
import ZonaiCore
import ZonaiTestKit

/// A hook and an observer as an application writes them, with the tests that it writes for them:
/// without a database, a transport or a worker.
@Suite struct HookTests {
  private struct Device: Sendable, Decodable, Equatable {
    var id: Int
    var owner: String
  }

  private static func rejection(of owner: String, _ reason: Reason = "UNREGISTERED") -> PushRejection {
    PushRejection(
      eventID: "event-7", job: JobID("job-1"), table: "devices", key: RowKey([.integer(7)]),
      token: DeviceToken("a-device-token-of-this-test"),
      row: Row(
        columns: ["id", "owner", "token"], values: [.integer(7), .text(owner), .text("a-device-token-of-this-test")]),
      platform: Platform("android"), transport: .fcm, reason: reason, attribution: ["campaign": "spring"])
  }

  /// Tells the account of a lost device; rows of the support desk stay.
  private struct LostDevices: PushRejectionHook {
    let mails = Recording<String>()

    func onPushRejected(_ rejection: PushRejection) async throws -> HookAnswer {
      guard case .text(let owner)? = rejection.row["owner"] else { return .followPolicy }
      if owner == "support" { return .keep }
      mails.append("\(owner): \(rejection.reason), \(rejection.attribution["campaign"] ?? "")")
      return .followPolicy
    }
  }

  @Test func `a hook is asked about a rejection that the test made`() async throws {
    let hook = LostDevices()
    #expect(try await hook.onPushRejected(Self.rejection(of: "ann")) == .followPolicy)
    #expect(try await hook.onPushRejected(Self.rejection(of: "support")) == .keep)
    #expect(hook.mails.elements == ["ann: UNREGISTERED, spring"])
  }

  @Test func `what a test left out of a rejection is the usual case`() {
    let rejection = Self.rejection(of: "ann")
    #expect(rejection.policy == .clearColumn)
    #expect(rejection.evidence == .conclusive)
    #expect(rejection.status == nil)
    #expect(!"\(rejection)".contains("a-device-token-of-this-test"))
  }

  @Test func `the hook of a described table is asked about a rejection that the test made`() async throws {
    let table = Table<Device>("devices", token: "token").onPushRejected { device in
      device.record.owner == "support" ? .keep : .followPolicy
    }
    let hook = try #require(table.hook)
    #expect(try await hook(Self.rejection(of: "support")) == .keep)
    #expect(try await hook(Self.rejection(of: "ann")) == .followPolicy)
  }

  @Test func `a handler of records is called with one that the test made`() async throws {
    let handler: @Sendable (RejectedRecord<Device>) async throws -> HookAnswer = { device in
      device.record.id == 7 && device.rejection.key == RowKey([.integer(7)]) ? .keep : .followPolicy
    }
    let rejected = RejectedRecord(record: Device(id: 7, owner: "ann"), rejection: Self.rejection(of: "ann"))
    #expect(try await handler(rejected) == .keep)
  }

  @Test func `an observer is told events that the test made`() {
    let lines = Recording<String>()
    let observer: ZonaiObserver = { event in
      if case .rejected(_, let report) = event { lines.append("\(report.group.platform): \(report.reason)") }
    }
    let group = Group(transport: .fcm, fingerprint: "project", platform: Platform("android"))
    let report = ZonaiEvent.RejectionReport(
      eventID: "event-7", group: group, evidence: .conclusive, reason: "UNREGISTERED")
    observer(.rejected(JobID("job-1"), report))
    #expect(lines.elements == ["android: UNREGISTERED"])
  }

  @Test func `code that reads what a worker did is given what the test made`() {
    func exitCode(_ report: WorkReport) -> Int32 {
      report.wasStopped || report.remaining?.nextDueInMilliseconds != nil ? 1 : 0
    }
    #expect(exitCode(WorkReport(batches: 2, recipients: 900, jobsEnded: 1)) == 0)
    #expect(exitCode(WorkReport(wasStopped: true)) == 1)
  }

  @Test func `code that shows an estimate is given one that the test made`() {
    let estimate = PushEstimate(
      audience: Audience("devices", token: "token"),
      reach: [
        PushEstimate.Reach(platform: Platform("ios"), transport: .apns, recipients: 3),
        PushEstimate.Reach(platform: Platform("web"), transport: nil, recipients: 1),
      ],
      sizes: [PushEstimate.Size(transport: .apns, bytes: 120, limit: 4096)])
    #expect(estimate.recipients == 4)
  }
}
