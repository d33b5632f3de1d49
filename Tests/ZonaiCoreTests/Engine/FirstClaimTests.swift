import Testing
import ZonaiCore
import ZonaiTestKit

/// A job that was enqueued where no lane could look at it is checked by the worker, before anything is sent.
struct FirstClaimTests {
  private static let messages: [PushMessage] = [
    PushMessage(),
    PushMessage(title: "x", data: ["from": "me"]),
    PushMessage(title: "x", data: ["aps": "{}"]),
    PushMessage(title: "x", collapseKey: String(repeating: "k", count: 65)),
    PushMessage(title: "x", timeToLive: 2_419_201),
    PushMessage(title: "x", isBackground: true),
    PushMessage(priority: .high, isBackground: true),
    PushMessage(title: "x", pushType: PushType(rawValue: "mdm")),
    PushMessage(title: "x", image: "cover.jpg"),
    PushMessage(title: "x", body: String(repeating: "y", count: 5000)),
  ]

  @Test(arguments: messages)
  func `the message is checked before anything is sent, in the words of a push`(_ message: PushMessage) async throws {
    let world = World()
    world.insert("android", 1...5)
    world.insert("ios", 6...9)
    let tokens = world.tokens
    let zonai = try world.zonai()
    let fault = await #expect(throws: MessageFault.self) { try await zonai.push(message, to: world.audience) }
    let definition = JobDefinition(
      message: message, audience: world.audience, policy: .clearColumn,
      routes: Routes(configured: [.fcm, .apns], audienceHasPlatform: true))
    let id = try await world.store.enqueue(EnqueueRequest(definition: definition)).job.id
    try await zonai.drain()
    let job = try #require(try await zonai.job(id))
    #expect(job.state == .failed)
    #expect(job.error == JobFailure(.message, fault?.sentence ?? ""))
    #expect(job.counts.settled == 0)
    #expect(world.sentTokens.isEmpty)
    #expect(world.tokens == tokens)
  }
}
