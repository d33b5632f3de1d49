extension ZonaiError {
  static func noSuchJob(_ id: JobID) -> ZonaiError {
    ZonaiError(.noSuchJob, "there is no job \(id); list them to find the one that you mean")
  }

  static func unservable(_ job: Job, having transports: Set<TransportName>) -> ZonaiError {
    let missing = job.definition.routes.transports.subtracting(transports).list
    return ZonaiError(
      .unservable,
      "job \(job.id) was enqueued for \(missing), which this process has no lane for; configure it here, or let a worker that has it do the job"
    )
  }

  static func unservable(_ job: Job, in app: AppName) -> ZonaiError {
    ZonaiError(
      .unservable,
      "job \(job.id) belongs to \(job.app), but this process works on \(app); name the job's app, or let a worker of that app do the job"
    )
  }

  static func hooksStuck(_ count: Int) -> ZonaiError {
    ZonaiError(
      .hooksStuck,
      "\(count) calls of onPushRejected never returned and hold a thread each; see what they wait for, and start this process again: the rejections are recorded and their hooks will be asked"
    )
  }

  static func noLane(for platform: Platform, having transports: Set<TransportName>) -> ZonaiError {
    ZonaiError(
      .noTransport,
      "nothing configured serves \(platform); there is \(transports.isEmpty ? "no transport" : transports.list)")
  }
}

extension Set<TransportName> {
  /// "APNs and FCM".
  var list: String { map(\.description).sorted().joined(separator: " and ") }
}
