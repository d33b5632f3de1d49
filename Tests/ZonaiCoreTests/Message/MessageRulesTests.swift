import Testing

@testable import ZonaiCore

struct MessageRulesTests {
  static func fault(_ message: PushMessage) -> MessageFault? {
    do throws(MessageFault) {
      try MessageRules.validate(message)
      return nil
    } catch {
      return error
    }
  }

  static func hello(_ change: (inout PushMessage) -> Void = { _ in }) -> PushMessage {
    var message = PushMessage(title: "Hello")
    change(&message)
    return message
  }

  @Test(arguments: [
    hello(), PushMessage(body: "x"), PushMessage(data: ["k": "v"]), PushMessage(badge: 0),
    PushMessage(sound: "default"),
    PushMessage(isBackground: true), PushMessage(data: ["k": "v"], priority: .normal, isBackground: true),
    PushMessage(isBackground: true, pushType: .background), PushMessage(pushType: .widgets),
    PushMessage(apnsOverride: "{}"), PushMessage(image: "https://example.org/a.png"),
    hello { $0.collapseKey = String(repeating: "k", count: 64) }, hello { $0.timeToLive = 0 },
    hello { $0.timeToLive = 2_419_200 }, hello { $0.data = ["notification": "x", "collapse_key": "y", "From": "z"] },
    hello { $0.image = "HTTP://example.org" }, hello { $0.pushType = .voip },
  ])
  func `a message that services take is taken`(message: PushMessage) { #expect(Self.fault(message) == nil) }

  @Test(arguments: [
    ("message", PushMessage()), ("message", PushMessage(title: "", body: "")), ("badge", hello { $0.badge = -1 }),
    ("collapseKey", hello { $0.collapseKey = String(repeating: "k", count: 65) }),
    ("collapseKey", hello { $0.collapseKey = String(repeating: "é", count: 33) }),
    ("collapseKey", hello { $0.collapseKey = "" }), ("collapseKey", hello { $0.collapseKey = "a\r\nb" }),
    ("collapseKey", hello { $0.collapseKey = " a" }),
    ("timeToLive", hello { $0.timeToLive = -1 }), ("timeToLive", hello { $0.timeToLive = 2_419_201 }),
    ("data.from", hello { $0.data = ["from": "x"] }), ("data.message_type", hello { $0.data = ["message_type": "x"] }),
    ("data.google.x", hello { $0.data = ["google.x": "x"] }), ("data.gcmFoo", hello { $0.data = ["gcmFoo": "x"] }),
    ("data.aps", hello { $0.data = ["aps": "x"] }), ("title", hello { $0.isBackground = true }),
    ("body", PushMessage(body: "x", isBackground: true)), ("sound", PushMessage(sound: "x", isBackground: true)),
    ("badge", PushMessage(badge: 0, isBackground: true)),
    ("image", PushMessage(image: "https://example.org", isBackground: true)),
    ("priority", PushMessage(priority: .high, isBackground: true)),
    ("pushType", PushMessage(isBackground: true, pushType: .alert)), ("pushType", hello { $0.pushType = .background }),
    ("pushType", hello { $0.pushType = PushType(rawValue: "mdm") }),
    ("pushType", hello { $0.pushType = PushType(rawValue: "Alert") }),
    ("image", hello { $0.image = "picture.png" }), ("image", hello { $0.image = "https://" }),
    ("image", hello { $0.image = "https:///a" }), ("image", hello { $0.image = "https://example.org/a b" }),
    ("image", hello { $0.image = "" }), ("image", hello { $0.image = "ftp://example.org" }),
    ("sound", hello { $0.sound = "" }), ("thread", hello { $0.thread = "" }), ("category", hello { $0.category = "" }),
  ])
  func `a message that no service takes is refused by its field`(field: String, message: PushMessage) {
    let fault = Self.fault(message)
    #expect(fault?.field == field)
    #expect(fault?.sentence.hasSuffix(".") == true)
  }
}
