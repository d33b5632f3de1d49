/// What a push would reach, and how large its message is.
public struct PushEstimate: Sendable, Hashable {
  /// One platform's recipients, and the lane that they would be sent over.
  public struct Reach: Sendable, Hashable {
    public var platform: Platform
    /// nil when no lane serves the platform: its recipients would be counted as transiently failed.
    public var transport: TransportName?
    public var recipients: Int

    public init(platform: Platform, transport: TransportName?, recipients: Int) {
      self.platform = platform
      self.transport = transport
      self.recipients = recipients
    }
  }

  /// The rendered message on one lane.
  public struct Size: Sendable, Hashable {
    public var transport: TransportName
    /// In bytes, as the service counts them.
    public var bytes: Int
    public var limit: Int

    public init(transport: TransportName, bytes: Int, limit: Int) {
      self.transport = transport
      self.bytes = bytes
      self.limit = limit
    }
  }

  /// The audience with its key filled in.
  public var audience: Audience
  /// By platform, most recipients first.
  public var reach: [Reach]
  public var sizes: [Size]
  /// What to look at in the table before anything is sent.
  public var notes: [JobNote]

  public var recipients: Int { reach.reduce(0) { $0 + $1.recipients } }

  public init(audience: Audience, reach: [Reach], sizes: [Size], notes: [JobNote] = []) {
    self.audience = audience
    self.reach = reach
    self.sizes = sizes
    self.notes = notes
  }

  init(_ count: AudienceCount, routes: Routes, messages: PreparedJobs.Messages) {
    audience = count.audience
    notes = count.notes
    reach = count.recipients.map { platform, recipients in
      Reach(platform: platform, transport: routes.transport(for: platform), recipients: recipients)
    }
    reach.sort { ($1.recipients, $0.platform.name) < ($0.recipients, $1.platform.name) }
    sizes = messages.map { Size(transport: $0, bytes: $1.size, limit: $1.limit) }
    sizes.sort { $0.transport.rawValue < $1.transport.rawValue }
  }
}
