import ZonaiCore

/// One worker with the scripted lane, on a job of its own or on one that several share.
enum WorkerRun {
  static func run(_ options: StoreOptions) async throws -> String {
    let store = try Stores.open(options)
    let metered = MeteredStore(store)
    var settings = ZonaiOptions()
    settings.batchSize = options.batch
    let zonai = try Zonai(
      store: metered, transports: [ScriptedLane(latency: options.latency)], options: settings)
    let start = Moment.now()
    if options.job == nil {
      _ = try await zonai.push(Lanes.message, to: Stores.audience)
    }
    let report = try await zonai.drain()
    let end = Moment.now()
    let calls = metered.calls
    let recipients = max(1, report.recipients)
    func milliseconds(_ nanoseconds: Int64) -> Int64 { nanoseconds / 1_000_000 }
    return """
      {"measured":"worker","database":"\(options.database.rawValue)","rows":\(options.rows),\
      "recipients":\(report.recipients),"milliseconds":\(milliseconds(end.wall - start.wall)),\
      "cpuMicroseconds":\((Double(end.cpu - start.cpu) / Double(recipients) / 10).rounded() / 100),\
      "claims":\(calls.claims.count),"contended":\(calls.contended),"idle":\(calls.idle),\
      "claimMilliseconds":\(milliseconds(calls.claims.nanoseconds)),\
      "settleMilliseconds":\(milliseconds(calls.settles.nanoseconds)),\
      "inspectMilliseconds":\(milliseconds(calls.inspects.nanoseconds)),\
      "peakKilobytes":\(Usage.now().peakKilobytes)}
      """
  }
}
