/// What a batch says about the message's time to live, in the two forms that the services want.
struct TimeLeft: Sendable, Hashable {
  /// What is left, in seconds, rounded up: a message that may still be sent is not sent as "now or never".
  var seconds: Int64
  /// When it ends, in seconds since 1970. 0 is APNs' "now or never".
  var endsAt: Int64

  /// nil when nothing is left.
  ///
  /// A time to live of 0 is passed on as it is, whenever the batch is sent. `expiresAt` counts from the job's due time;
  /// without it the time to live counts from now.
  init?(timeToLive: Int, expiresAt: Int64?, now: Int64) {
    guard timeToLive > 0 else {
      seconds = 0
      endsAt = 0
      return
    }
    let end = expiresAt ?? now + Int64(timeToLive) * 1000
    guard end > now else { return nil }
    seconds = (end - now + 999) / 1000
    endsAt = max(1, end / 1000)
  }
}
