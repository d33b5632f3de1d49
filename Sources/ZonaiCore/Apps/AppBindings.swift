/// What one transport of an app is bound to, in the store.
public struct LaneBinding: Sendable, Hashable {
  public var identity: LaneIdentity
  /// 1 for the first binding; rises with every rebind that changes it.
  public var version: Int64
  /// When it was bound to this identity, in milliseconds since 1970 by the store's clock.
  public var boundAt: Int64

  public init(identity: LaneIdentity, version: Int64, boundAt: Int64) {
    self.identity = identity
    self.version = version
    self.boundAt = boundAt
  }
}

/// The bindings of one app, and what follows from them for processes and jobs.
///
/// Every store asks here, so that the same mistake gets the same sentence from all of them.
public struct AppBindings: Sendable, Hashable {
  public var app: AppName
  public var lanes: [TransportName: LaneBinding]

  public init(app: AppName, lanes: [TransportName: LaneBinding] = [:]) {
    self.app = app
    self.lanes = lanes
  }

  /// Which of a process's lanes have no binding yet, in order.
  public func unbound(_ configured: [LaneIdentity]) -> [LaneIdentity] {
    configured.filter { lanes[$0.transport] == nil }.inOrder
  }

  /// Throws `otherBinding` when a lane of the process is not what its transport is bound to.
  public func check(_ configured: [LaneIdentity]) throws(StoreError) {
    for identity in configured.inOrder {
      guard let bound = lanes[identity.transport]?.identity, bound != identity else { continue }
      throw StoreError(
        .otherBinding,
        "\(app) is bound to \(bound), but this configuration is \(identity): give it an app of its own (--app NAME), or "
          + "bind the app to it with \"\(app.rebindCommand)\"")
    }
  }

  /// Throws `rebound` when a worker's lanes are not bound as they were when it began: to the same
  /// identity, under the same version. A lane without a known version is compared by its identity
  /// alone, and may be unbound.
  public func check(_ claim: ClaimRequest) throws(StoreError) {
    for identity in claim.lanes.inOrder {
      let bound = lanes[identity.transport]
      let version = claim.bindingVersions[identity.transport]
      if bound == nil, version == nil { continue }
      if bound?.identity == identity, version == nil || bound?.version == version { continue }
      guard let bound else {
        throw StoreError(
          .rebound, "the binding of \(app) to \(identity) is no longer in the database: start this worker again")
      }
      guard bound.identity != identity else {
        throw StoreError(.rebound, "\(app) was bound to \(identity) again after this worker began: start it again")
      }
      throw StoreError(
        .rebound,
        "\(app) is bound to \(bound.identity) now, but this worker sends as \(identity): start it again with the new "
          + "configuration, or with an app of its own (--app NAME)")
    }
  }

  /// What these transports are bound to, as far as they are, in order.
  public func identities(needing transports: Set<TransportName>) -> [LaneIdentity] {
    transports.compactMap { lanes[$0]?.identity }.inOrder
  }

  /// The identities of a job whose routes need these transports: those that it has, and for the
  /// others what they are bound to. Throws why the job cannot go on when a transport is bound to
  /// another identity than the job's.
  public func identities(
    of job: [LaneIdentity], needing transports: Set<TransportName>
  ) throws(JobFailure) -> [LaneIdentity] {
    var known: [TransportName: LaneIdentity] = [:]
    for identity in job.inOrder {
      known[identity.transport] = identity
      guard let bound = lanes[identity.transport]?.identity, bound != identity else { continue }
      throw AppBindings.failure(of: app, from: identity, to: bound)
    }
    let missing = transports.filter { known[$0] == nil }
    return (Array(known.values) + identities(needing: missing)).inOrder
  }

  /// Why a job stops whose app was bound to another identity.
  public static func failure(of app: AppName, from old: LaneIdentity, to new: LaneIdentity) -> JobFailure {
    JobFailure(
      .rebound,
      "the job belongs to \(old), but \(app) is bound to \(new) now: resume it with --rebound to send the rest as that, or "
        + "bind the app back")
  }

  /// Throws `otherBinding` when a job belongs to another identity than its app: a resume that was
  /// not told so.
  public func checkResume(of id: JobID, with identities: [LaneIdentity]) throws(StoreError) {
    do throws(JobFailure) { _ = try self.identities(of: identities, needing: []) } catch {
      throw StoreError(.otherBinding, "job \(id) cannot go on as it is: \(error.detail)")
    }
  }
}

extension AppName {
  /// The command that binds the app to another configuration.
  fileprivate var rebindCommand: String {
    "zonai apps rebind \(rawValue.isEmpty ? "" : rawValue + " ")--config FILE"
  }
}
