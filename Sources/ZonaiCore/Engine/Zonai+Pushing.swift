/// One message to one audience.
extension Zonai {
  /// Records the job durably and returns once it is committed; workers send it.
  ///
  /// Nothing is written when the message, the audience or the policy is refused: a `MessageFault` names the message's
  /// field, a `StoreError` the table or column, a `ZonaiError` what this process lacks.
  ///
  /// - Parameters:
  ///   - policy: what follows a permanent rejection; nil takes `ZonaiOptions.onPermanentRejection`.
  ///   - idempotencyKey: a push with the same key and content gives the same job, with other content it is refused.
  ///   - attribution: your own words about this push, handed to every hook.
  ///   - routes: which transport serves which platform; nil takes what this process has.
  ///   - deletesReferencedRows: say so when `deleteRow` is meant on a table that others reference.
  @discardableResult
  public func push(
    _ message: PushMessage, to audience: Audience, policy: Policy? = nil, idempotencyKey: String? = nil,
    attribution: [String: String] = [:], routes: Routes? = nil, deletesReferencedRows: Bool = false
  ) async throws -> Job {
    let request = try checkedRequest(
      message, to: audience, policy: policy, idempotencyKey: idempotencyKey, attribution: attribution, routes: routes,
      deletesReferencedRows: deletesReferencedRows)
    let enqueued = try await store.enqueue(request)
    storeWasReached.store(true, ordering: .relaxed)
    observer(.enqueued(enqueued.job.id, wasThere: enqueued.wasThere))
    return enqueued.job
  }

  /// What `push` records, after every check that needs no database: refused here, before anything is written, rather than by
  /// a worker.
  package func checkedRequest(
    _ message: PushMessage, to audience: Audience, policy: Policy?, idempotencyKey: String?,
    attribution: [String: String], routes: Routes?, deletesReferencedRows: Bool
  ) throws -> EnqueueRequest {
    let request = try self.request(
      message, to: audience, policy: policy, idempotencyKey: idempotencyKey, attribution: attribution, routes: routes,
      deletesReferencedRows: deletesReferencedRows)
    _ = try prepare(request.definition)
    return request
  }

  /// What `push` would do: the same checks, whom it would reach over which lane, and how large the message is. Writes nothing.
  public func count(
    _ message: PushMessage, to audience: Audience, policy: Policy? = nil, routes: Routes? = nil,
    deletesReferencedRows: Bool = false
  ) async throws -> PushEstimate {
    let request = try self.request(
      message, to: audience, policy: policy, idempotencyKey: nil, attribution: [:], routes: routes,
      deletesReferencedRows: deletesReferencedRows)
    let messages = try prepare(request.definition)
    guard case .audience(let count) = try await store.jobs(.count(request)) else {
      throw StoreError.answeredAnotherQuestion
    }
    return PushEstimate(count, routes: request.definition.routes, messages: messages)
  }

  private func request(
    _ message: PushMessage, to audience: Audience, policy: Policy?, idempotencyKey: String?,
    attribution: [String: String], routes: Routes?, deletesReferencedRows: Bool
  ) throws(ZonaiError) -> EnqueueRequest {
    var audience = audience
    if audience.key.isEmpty, let table = described(audience.table) { audience.key = table.audience(where: nil).key }
    let configured = Set(transports.keys)
    let hasPlatform = audience.platform != .unknown
    let routes = routes ?? Routes(configured: configured, audienceHasPlatform: hasPlatform)
    if routes.transports.isEmpty { throw ZonaiError.noLane(for: .unknown, having: configured) }
    if case .fixed(let platform) = audience.platform, routes.transport(for: platform) == nil {
      throw ZonaiError.noLane(for: platform, having: configured)
    }
    let definition = JobDefinition(
      message: message, audience: audience, policy: policy ?? options.onPermanentRejection, routes: routes,
      attribution: attribution)
    return EnqueueRequest(
      app: app, lanes: lanes, definition: definition, idempotencyKey: idempotencyKey,
      deletesReferencedRows: deletesReferencedRows)
  }

  /// Renders the message on the lanes that the audience can reach.
  private func prepare(_ definition: JobDefinition) throws(MessageFault) -> PreparedJobs.Messages {
    try prepared.render(definition.message, on: definition.reachedTransports)
  }
}
