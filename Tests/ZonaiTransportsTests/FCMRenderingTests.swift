import Testing
import ZonaiCore
import ZonaiJSON

@testable import ZonaiTransports

@Suite struct FCMRenderingTests {
  /// The body as it is sent to one token.
  private func body(
    _ message: PushMessage, token: String = "TOKEN", secondsLeft: Int64 = 59, endsAt: Int64 = 1_800_000_000
  ) throws -> String {
    let filled = try FCMRendering(message).template.filled(secondsLeft: secondsLeft, endsAt: endsAt)
    return filled.segments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: token)
  }

  @Test func `a message with everything has a block for each platform`() throws {
    let message = PushMessage(
      title: "Title", body: "Text \"quoted\"", data: ["k": "v", "a": "é"], collapseKey: "news", timeToLive: 60,
      priority: .high, sound: "ping.caf", badge: 3, image: "https://example.com/a.png", thread: "t", category: "c")
    let expected =
      #"{"message":{"token":"TOKEN","#
      + #""android":{"ttl":"59s","collapse_key":"news","#
      + #""notification":{"click_action":"c","notification_count":3,"sound":"ping.caf"},"priority":"HIGH"},"#
      + #""apns":{"headers":{"apns-expiration":"1800000000","apns-collapse-id":"news","apns-priority":"10","#
      + #""apns-push-type":"alert"},"payload":{"aps":{"badge":3,"category":"c","mutable-content":1,"#
      + #""sound":"ping.caf","thread-id":"t"}}},"data":{"a":"é","k":"v"},"#
      + #""notification":{"body":"Text \"quoted\"","image":"https://example.com/a.png","title":"Title"}}}"#
    #expect(try body(message) == expected)
  }

  @Test(arguments: [
    (
      PushMessage(title: "t"),
      #"{"message":{"token":"TOKEN","apns":{"headers":{"apns-priority":"10","apns-push-type":"alert"}},"notification":{"title":"t"}}}"#
    ),
    (
      PushMessage(data: ["k": "v"], priority: .high, isBackground: true),
      #"{"message":{"token":"TOKEN","android":{"priority":"HIGH"},"apns":{"headers":{"apns-priority":"5","apns-push-type":"background"},"payload":{"aps":{"content-available":1}}},"data":{"k":"v"}}}"#
    ),
    (
      PushMessage(badge: 0),
      #"{"message":{"token":"TOKEN","apns":{"headers":{"apns-priority":"10","apns-push-type":"alert"},"payload":{"aps":{"badge":0}}}}}"#
    ),
    (
      PushMessage(title: "t", priority: .normal),
      #"{"message":{"token":"TOKEN","android":{"priority":"NORMAL"},"apns":{"headers":{"apns-priority":"5","apns-push-type":"alert"}},"notification":{"title":"t"}}}"#
    ),
  ])
  func `only what is set is sent`(_ message: PushMessage, _ expected: String) throws {
    #expect(try body(message) == expected)
  }

  @Test(
    arguments: [
      (#"{"android":{"ttl":"5s"}}"#, "5s", "1800000000"),
      (#"{"android":{"ttl":null}}"#, nil, "1800000000"),
      (#"{"android":null}"#, nil, "1800000000"),
      (#"{"apns":{"headers":{"apns-expiration":"0"}}}"#, "59s", "0"),
      (#"{"apns":{"headers":null}}"#, "59s", nil),
      (#"{"notification":{"title":"other"}}"#, "59s", "1800000000"),
    ] as [(String, String?, String?)])
  func `what an override says of the time to live counts`(
    _ override: String, _ android: String?, _ apple: String?
  ) throws {
    let message = PushMessage(title: "t", timeToLive: 60, fcmOverride: override)
    let sent = try JSON(parsing: body(message))["message"]
    #expect(sent?["android"]?["ttl"]?.string == android)
    #expect(sent?["apns"]?["headers"]?["apns-expiration"]?.string == apple)
    #expect(sent?["token"]?.string == "TOKEN")
  }

  @Test func `an override meets what it replaces in either spelling`() throws {
    let message = PushMessage(
      title: "t", data: ["keepCase": "1"], collapseKey: "old", sound: "s",
      fcmOverride: """
        {"message": {"android": {"collapseKey": "new", "notification": {"channelId": "c", "sound": null}},
         "data": {"camelCase": "2"}, "apns": {"payload": {"customKey": {"a": 1}}}, "fcmOptions": {"analyticsLabel": "l"}}}
        """)
    let sent = try JSON(parsing: body(message))["message"]
    #expect(sent?["android"] == ["collapse_key": "new", "notification": ["channel_id": "c"]])
    #expect(sent?["data"] == ["keepCase": "1", "camelCase": "2"])
    #expect(sent?["apns"]?["payload"] == ["aps": ["sound": "s"], "customKey": ["a": 1]])
    #expect(sent?["fcm_options"] == ["analytics_label": "l"])
  }

  @Test(arguments: [
    (#"{"token":"x"}"#, "fcmOverride.token"), (#"{"topic":"x"}"#, "fcmOverride.topic"),
    (#"{"condition":"x"}"#, "fcmOverride.condition"), (#"{"fid":"x"}"#, "fcmOverride.fid"),
    (#"{"name":"x"}"#, "fcmOverride.name"), (#"{"message":{"token":"x"}}"#, "fcmOverride.token"),
    (#"{"apns":{"liveActivityToken":"x"}}"#, "fcmOverride.apns.live_activity_token"),
    (#"{"apns":{"headers":{"Authorization":"x"}}}"#, "fcmOverride.apns.headers.authorization"),
    (#"{"webpush":{"headers":{"authorization":"x"}}}"#, "fcmOverride.webpush.headers.authorization"),
    (#"{"authorization":"x"}"#, "fcmOverride.authorization"), (#"{"validateOnly":true}"#, "fcmOverride.validate_only"),
    (#"{"android":"x"}"#, "fcmOverride.android"), (#"[]"#, "fcmOverride"), (#"{"a":"#, "fcmOverride"),
    (#"{"data":{"from":"x"}}"#, "fcmOverride.data.from"), (#"{"data":{"n":1}}"#, "fcmOverride.data.n"),
    (#"{"android":{"data":{"google.x":"y"}}}"#, "fcmOverride.android.data.google.x"),
  ])
  func `an override with a target, a credential or another shape is refused by name`(
    _ override: String, _ field: String
  ) throws {
    let fault = #expect(throws: MessageFault.self) {
      try FCMRendering(PushMessage(title: "t", fcmOverride: override))
    }
    #expect(fault?.field == field)
    #expect(fault?.sentence.isEmpty == false)
  }

  @Test(
    arguments: [
      (#"{"clickAction":1,"click_action":1}"#, "", "clickAction", "click_action"),
      (#"{"message":{"fcmOptions":{},"fcm_options":{}}}"#, "", "fcmOptions", "fcm_options"),
      (#"{"android":{"collapseKey":"a","collapse_key":"b"}}"#, ".android", "collapseKey", "collapse_key"),
      (#"{"android":{"collapseKey":"a","collapse_key":null}}"#, ".android", "collapseKey", "collapse_key"),
      (
        #"{"android":{"notification":{"clickAction":"a","click_action":"a"}}}"#, ".android.notification",
        "clickAction", "click_action"
      ),
      (
        #"{"android":{"notification":{"lightSettings":{"lightOnDuration":"1s","light_on_duration":"2s"}}}}"#,
        ".android.notification.light_settings", "lightOnDuration", "light_on_duration"
      ),
      (#"{"apns":{"fcmOptions":{},"fcm_options":{}}}"#, ".apns", "fcmOptions", "fcm_options"),
      (
        #"{"apns":{"fcm_options":{"analyticsLabel":"a","analytics_label":"b"}}}"#, ".apns.fcm_options",
        "analyticsLabel", "analytics_label"
      ),
      (
        #"{"apns":{"headers":{"APNs-Priority":"5","apns-priority":"10"}}}"#, ".apns.headers", "APNs-Priority",
        "apns-priority"
      ),
      (#"{"webpush":{"fcmOptions":{},"fcm_options":{}}}"#, ".webpush", "fcmOptions", "fcm_options"),
      (#"{"webpush":{"headers":{"TTL":"1","ttl":"2"}}}"#, ".webpush.headers", "TTL", "ttl"),
      (
        #"{"android_v2":{"list":[{"channelId":"a","channel_id":"b"}]}}"#, ".android_v2.list", "channelId", "channel_id"
      ),
    ] as [(String, String, String, String)])
  func `one field in two spellings is refused, wherever it stands`(
    _ override: String, _ place: String, _ first: String, _ second: String
  ) {
    let fault = #expect(throws: MessageFault.self) {
      try FCMRendering(PushMessage(title: "t", fcmOverride: override))
    }
    #expect(fault?.field == "fcmOverride\(place).\(second.lowercased())")
    #expect(fault?.sentence.contains("'\(first)' and '\(second)'") == true, "\(fault?.sentence ?? "")")
  }

  @Test(arguments: [
    #"{"data":{"clickAction":"a","click_action":"b"}}"#, #"{"android":{"data":{"aB":"a","a_b":"b"}}}"#,
    #"{"webpush":{"data":{"aB":"a","a_b":"b"},"notification":{"aB":1,"a_b":2}}}"#,
    #"{"apns":{"payload":{"aB":1,"a_b":2,"aps":{"aB":1,"a_b":2}}}}"#,
    #"{"android_v2":{"x":{"data":{"aB":"","a_b":""}}}}"#,
  ])
  func `names of the application and of other services are left as they are`(_ override: String) throws {
    let sent = try body(PushMessage(fcmOverride: override))
    #expect(try sent == body(PushMessage(fcmOverride: override)))
    for name in ["clickAction", "aB"] where override.contains(name) { #expect(sent.contains("\"\(name)\"")) }
  }

  @Test func `a header in another case takes the place of the one that is written`() throws {
    let message = PushMessage(
      title: "t", timeToLive: 60, fcmOverride: #"{"apns":{"headers":{"APNs-Priority":"1","Apns-Expiration":"0"}}}"#)
    let headers = try JSON(parsing: body(message))["message"]?["apns"]?["headers"]
    #expect(headers == ["apns-expiration": "0", "apns-priority": "1", "apns-push-type": "alert"])
  }

  @Test func `the size is that of the platform that gets more`() throws {
    // title+t, k+v, sound+s: what Android gets; aps adds its own name.
    #expect(try FCMRendering(PushMessage(title: "t", data: ["k": "v"], sound: "s")).size == 6 + 2 + 3 + 6)
    // Data for Android alone is not Apple's.
    let override = #"{"android":{"data":{"k":"0123456789"}}}"#
    #expect(try FCMRendering(PushMessage(data: ["k": "v"], fcmOverride: override)).size == 11)
    // Collapse key and time to live are no payload.
    #expect(try FCMRendering(PushMessage(title: "t", collapseKey: "c", timeToLive: 5)).size == 6)
  }

  @Test(
    arguments: [
      (0, nil, TimeLeft.Wanted(seconds: 0, endsAt: 0)), (0, 5, TimeLeft.Wanted(seconds: 0, endsAt: 0)),
      (60, 10_000 + 60_000, TimeLeft.Wanted(seconds: 60, endsAt: 70)),
      (60, 10_000 + 1, TimeLeft.Wanted(seconds: 1, endsAt: 10)),
      (60, nil, TimeLeft.Wanted(seconds: 60, endsAt: 70)), (60, 10_000, nil), (60, 9_000, nil),
    ] as [(Int, Int64?, TimeLeft.Wanted?)])
  func `what is left of the time to live`(_ timeToLive: Int, _ expiresAt: Int64?, _ wanted: TimeLeft.Wanted?) {
    let left = TimeLeft(timeToLive: timeToLive, expiresAt: expiresAt, now: 10_000)
    #expect(left.map { TimeLeft.Wanted(seconds: $0.seconds, endsAt: $0.endsAt) } == wanted)
  }
}

extension TimeLeft {
  struct Wanted: Sendable, Equatable {
    var seconds: Int64
    var endsAt: Int64
  }
}
