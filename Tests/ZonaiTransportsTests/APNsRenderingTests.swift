import Testing
import ZonaiCore
import ZonaiJSON

@testable import ZonaiTransports

@Suite struct APNsRenderingTests {
  private func rendered(_ message: PushMessage) throws -> APNsRendering {
    try APNsRendering(message, bundleId: "com.example.app")
  }

  private func fields(_ rendering: APNsRendering) -> [String: String] {
    Dictionary(uniqueKeysWithValues: rendering.headers.map { ($0.name, $0.value) })
  }

  @Test func `a message with everything`() throws {
    let rendering = try rendered(
      PushMessage(
        title: "Title", body: "Text", data: ["k": "v"], collapseKey: "news", timeToLive: 60, priority: .normal,
        sound: "default", badge: 3, image: "https://example.com/a.png", thread: "t", category: "c"))
    let expected =
      #"{"aps":{"alert":{"body":"Text","title":"Title"},"badge":3,"category":"c","mutable-content":1,"#
      + #""sound":"default","thread-id":"t"},"fcm_options":{"image":"https://example.com/a.png"},"k":"v"}"#
    #expect(String(decoding: rendering.body, as: UTF8.self) == expected)
    #expect(
      fields(rendering) == [
        "apns-topic": "com.example.app", "apns-push-type": "alert", "apns-priority": "5", "apns-collapse-id": "news",
      ])
    #expect(rendering.timeToLive == 60)
    #expect(rendering.limit == 4096)
  }

  @Test(arguments: [
    (PushMessage(title: "t"), "alert", "com.example.app", "10", 4096),
    (PushMessage(isBackground: true), "background", "com.example.app", "5", 4096),
    (PushMessage(priority: .high, isBackground: true), "background", "com.example.app", "5", 4096),
    (PushMessage(data: ["k": "v"], pushType: .voip), "voip", "com.example.app.voip", "10", 5120),
    (PushMessage(pushType: .liveactivity), "liveactivity", "com.example.app.push-type.liveactivity", "10", 4096),
    (PushMessage(pushType: .complication), "complication", "com.example.app.complication", "10", 4096),
    (PushMessage(pushType: .location), "location", "com.example.app.location-query", "10", 4096),
    (PushMessage(pushType: .pushtotalk), "pushtotalk", "com.example.app.voip-ptt", "10", 4096),
  ])
  func `push type, topic, priority and limit go together`(
    _ message: PushMessage, _ type: String, _ topic: String, _ priority: String, _ limit: Int
  ) throws {
    let rendering = try rendered(message)
    #expect(fields(rendering)["apns-push-type"] == type)
    #expect(fields(rendering)["apns-topic"] == topic)
    #expect(fields(rendering)["apns-priority"] == priority)
    #expect(rendering.limit == limit)
  }

  @Test func `an override is merged into the body, and null takes out`() throws {
    let override = #"{"aps":{"alert":{"title":"other"},"sound":null,"timestamp":5},"extra":[1]}"#
    let rendering = try rendered(PushMessage(title: "t", body: "b", sound: "s", apnsOverride: override))
    #expect(
      try JSON(parsing: rendering.body)
        == ["aps": ["alert": ["title": "other", "body": "b"], "timestamp": 5], "extra": [1]])
  }

  @Test(arguments: [
    (PushMessage(title: "t", pushType: PushType(rawValue: "mdm")), "pushType"),
    (PushMessage(title: "t", data: ["aps": "x"]), "data.aps"),
    (PushMessage(title: "t", data: ["fcm_options": "x"], image: "i"), "data.fcm_options"),
    (PushMessage(title: "t", apnsOverride: #"{"aps":"x"}"#), "apnsOverride.aps"),
    (PushMessage(title: "t", apnsOverride: #"x"#), "apnsOverride"),
    (PushMessage(title: "t", collapseKey: "line\nbreak"), "collapseKey"),
    (PushMessage(title: "t", collapseKey: "Käse"), "collapseKey"),
  ])
  func `what cannot be rendered is refused by name`(_ message: PushMessage, _ field: String) throws {
    #expect(#expect(throws: MessageFault.self) { try rendered(message) }?.field == field)
  }
}
