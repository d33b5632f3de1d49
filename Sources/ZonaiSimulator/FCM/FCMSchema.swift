/// The fields of a send request (FCM's discovery document, and what newer official SDKs send).
///
/// Made once for each simulator and freed with it; a global one would look like a leak to the address sanitizer.
enum FCMSchema {
  static func request() -> ProtoShape { .message(["message": message(), "validate_only": .bool]) }

  private static func message() -> ProtoShape {
    .message([
      "name": .text, "token": .text, "topic": .text, "condition": .text, "fid": .text, "data": .map,
      "notification": .message(["title": .text, "body": .text, "image": .text]),
      "android": android(), "android_v2": .open, "webpush": webpush(), "apns": apns(),
      "fcm_options": .message(["analytics_label": .text]),
    ])
  }

  private static func android() -> ProtoShape {
    .message([
      "collapse_key": .text,
      "priority": .choice(
        "type.googleapis.com/google.firebase.fcm.v1.AndroidConfig.AndroidMessagePriority", ["NORMAL", "HIGH"]),
      "ttl": .duration, "restricted_package_name": .text, "data": .map, "notification": androidNotification(),
      "fcm_options": .message(["analytics_label": .text]), "direct_boot_ok": .bool, "bandwidth_constrained_ok": .bool,
      "restricted_satellite_ok": .bool,
    ])
  }

  private static func androidNotification() -> ProtoShape {
    .message([
      "title": .text, "body": .text, "icon": .text, "color": .text, "sound": .text, "tag": .text, "click_action": .text,
      "body_loc_key": .text, "body_loc_args": .list(.text), "title_loc_key": .text, "title_loc_args": .list(.text),
      "channel_id": .text, "ticker": .text, "sticky": .bool, "event_time": .text, "local_only": .bool,
      "notification_priority": .choice(
        "type.googleapis.com/google.firebase.fcm.v1.AndroidNotification.NotificationPriority",
        [
          "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX",
        ]),
      "default_sound": .bool, "default_vibrate_timings": .bool, "default_light_settings": .bool,
      "vibrate_timings": .list(.duration),
      "visibility": .choice(
        "type.googleapis.com/google.firebase.fcm.v1.AndroidNotification.Visibility",
        ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
      "notification_count": .integer, "light_settings": .open, "image": .text, "bypass_proxy_notification": .bool,
      "proxy": .choice(
        "type.googleapis.com/google.firebase.fcm.v1.AndroidNotification.Proxy",
        ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
    ])
  }

  private static func webpush() -> ProtoShape {
    .message([
      "headers": .map, "data": .map, "notification": .open,
      "fcm_options": .message(["link": .text, "analytics_label": .text]),
    ])
  }

  private static func apns() -> ProtoShape {
    .message([
      "headers": .map, "payload": .open, "live_activity_token": .text,
      "fcm_options": .message(["analytics_label": .text, "image": .text]),
    ])
  }
}
