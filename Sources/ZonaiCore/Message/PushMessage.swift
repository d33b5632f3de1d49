/// What is sent: one message for every recipient of a job.
///
/// Only what is set is sent. A message without title, body, image, sound and badge that is `isBackground` wakes the
/// application silently.
public struct PushMessage: Sendable, Hashable, Codable {
  public var title: String?
  public var body: String?
  /// The application's own keys. FCM delivers strings only, so strings they are. A few names are reserved by the services
  /// (`MessageRules.reservedDataKeys`).
  public var data: [String: String]
  /// Messages with one key replace each other on a device. At most 64 bytes, APNs' limit.
  public var collapseKey: String?
  /// How long the services keep the message for a device that is away, in seconds, counted from the job's due time. At most
  /// 28 days, FCM's limit. nil leaves it to the service; 0 is "now or never".
  public var timeToLive: Int?
  /// `nil` leaves it to the service: high for what a person sees, normal for a background push.
  public var priority: Priority?
  /// A file name of the application, or `default`. nil is silent.
  public var sound: String?
  /// The number on the application's icon; 0 removes it.
  public var badge: Int?
  /// The address of a picture.
  public var image: String?
  /// Notifications of one thread are shown together (Apple's platforms; ignored by Android).
  public var thread: String?
  /// Which set of buttons the application shows: APNs' category, Android's click action.
  public var category: String?
  /// Wakes the application without showing anything. Must have no title, body, sound or badge.
  public var isBackground: Bool
  /// The kind of push for APNs; nil is `alert`, or `background` for a background push.
  public var pushType: PushType?
  /// JSON merged into FCM's `message` object; a target or credential in it is refused.
  public var fcmOverride: String?
  /// JSON merged into APNs' body.
  public var apnsOverride: String?

  public init(
    title: String? = nil, body: String? = nil, data: [String: String] = [:], collapseKey: String? = nil,
    timeToLive: Int? = nil, priority: Priority? = nil, sound: String? = nil, badge: Int? = nil, image: String? = nil,
    thread: String? = nil, category: String? = nil, isBackground: Bool = false, pushType: PushType? = nil,
    fcmOverride: String? = nil, apnsOverride: String? = nil
  ) {
    self.title = title
    self.body = body
    self.data = data
    self.collapseKey = collapseKey
    self.timeToLive = timeToLive
    self.priority = priority
    self.sound = sound
    self.badge = badge
    self.image = image
    self.thread = thread
    self.category = category
    self.isBackground = isBackground
    self.pushType = pushType
    self.fcmOverride = fcmOverride
    self.apnsOverride = apnsOverride
  }

  public enum Priority: String, Sendable, Hashable, Codable {
    case high, normal
  }

  /// The push type that APNs is told.
  public var effectivePushType: PushType { pushType ?? (isBackground ? .background : .alert) }

  private enum CodingKeys: String, CodingKey {
    case title, body, data, collapseKey, timeToLive, priority, sound, badge, image, thread, category, isBackground
    case pushType, fcmOverride, apnsOverride
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    title = try values.decodeIfPresent(String.self, forKey: .title)
    body = try values.decodeIfPresent(String.self, forKey: .body)
    data = try values.decodeIfPresent([String: String].self, forKey: .data) ?? [:]
    collapseKey = try values.decodeIfPresent(String.self, forKey: .collapseKey)
    timeToLive = try values.decodeIfPresent(Int.self, forKey: .timeToLive)
    priority = try values.decodeIfPresent(Priority.self, forKey: .priority)
    sound = try values.decodeIfPresent(String.self, forKey: .sound)
    badge = try values.decodeIfPresent(Int.self, forKey: .badge)
    image = try values.decodeIfPresent(String.self, forKey: .image)
    thread = try values.decodeIfPresent(String.self, forKey: .thread)
    category = try values.decodeIfPresent(String.self, forKey: .category)
    isBackground = try values.decodeIfPresent(Bool.self, forKey: .isBackground) ?? false
    pushType = try values.decodeIfPresent(PushType.self, forKey: .pushType)
    fcmOverride = try values.decodeIfPresent(String.self, forKey: .fcmOverride)
    apnsOverride = try values.decodeIfPresent(String.self, forKey: .apnsOverride)
  }
}

/// APNs' `apns-push-type`, with the suffix that its topic wants.
/// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
public struct PushType: RawRepresentable, Sendable, Hashable, Codable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let alert = PushType(rawValue: "alert")
  public static let background = PushType(rawValue: "background")
  public static let complication = PushType(rawValue: "complication")
  public static let controls = PushType(rawValue: "controls")
  public static let fileprovider = PushType(rawValue: "fileprovider")
  public static let liveactivity = PushType(rawValue: "liveactivity")
  public static let location = PushType(rawValue: "location")
  public static let pushtotalk = PushType(rawValue: "pushtotalk")
  public static let voip = PushType(rawValue: "voip")
  public static let widgets = PushType(rawValue: "widgets")

  /// Every push type whose topic Zonai knows. `mdm` is not among them: its topic is no bundle id.
  public static let known: [PushType] = [
    .alert, .background, .complication, .controls, .fileprovider, .liveactivity, .location, .pushtotalk, .voip,
    .widgets,
  ]

  /// What is appended to the bundle id to make the topic; nil for a push type that Zonai does not know.
  public var topicSuffix: String? {
    switch rawValue {
    case "alert", "background": ""
    case "complication": ".complication"
    case "controls": ".push-type.controls"
    case "fileprovider": ".pushkit.fileprovider"
    case "liveactivity": ".push-type.liveactivity"
    case "location": ".location-query"
    case "pushtotalk": ".voip-ptt"
    case "voip": ".voip"
    case "widgets": ".push-type.widgets"
    default: nil
    }
  }
}
