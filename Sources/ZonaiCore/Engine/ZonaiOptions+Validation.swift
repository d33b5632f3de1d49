extension ZonaiOptions {
  /// Throws for the first option that is out of its range, naming it, the range and what it was.
  public func validate() throws(ZonaiError) {
    try check("batchSize", batchSize, in: 1...10_000)
    try check("firstBatchSize", firstBatchSize, in: 1...10_000)
    try check("batchesInFlight", batchesInFlight, in: 1...64)
    try check("maxAttemptsPerBatch", maxAttemptsPerBatch, in: 1...100)
    try check("hooksAtOnce", hooksAtOnce, in: 1...64)
    try check("abandonedHooksLimit", abandonedHooksLimit, in: 1...1000)
    if let retryBaseSeconds { try check("retryBaseSeconds", retryBaseSeconds, in: 0.001...3600) }
    try check("maxRetryDelaySeconds", maxRetryDelaySeconds, in: 0.001...86_400)
    try check("hookTimeoutSeconds", hookTimeoutSeconds, in: 0.001...3600)
    try check("hookBudgetSeconds", hookBudgetSeconds, in: 0.001...86_400)
    // Below a second, an ordinary pause of the machine would cost the lease.
    try check("leaseSeconds", leaseSeconds, in: 1...3600)
    try check("gracePeriodSeconds", gracePeriodSeconds, in: 0...3600)
    try check("pollSeconds", pollSeconds, in: 0.01...3600)
    try check("storePatienceSeconds", storePatienceSeconds, in: 0...86_400)
    try check("sendLimitSeconds", sendLimitSeconds, in: 1...86_400)
    // A century: an answer to "for ever" that still fits its arithmetic.
    if let retentionSeconds { try check("retentionSeconds", retentionSeconds, in: 60...3_155_760_000) }
    if let retryBaseSeconds, retryBaseSeconds > maxRetryDelaySeconds {
      throw ZonaiError(
        .invalidOption,
        "retryBaseSeconds is \(retryBaseSeconds) and more than maxRetryDelaySeconds, \(maxRetryDelaySeconds); lower the first or raise the second"
      )
    }
    if workerName?.isEmpty == true {
      throw ZonaiError(.invalidOption, "workerName is empty; give a name or leave it out")
    }
    // With what is put behind it, the name is part of a key in the store's tables.
    if let workerName, workerName.utf8.count > 200 {
      throw ZonaiError(.invalidOption, "workerName has \(workerName.utf8.count) bytes; it may have 200 at most")
    }
  }

  private func check<Number: Comparable>(
    _ name: String, _ value: Number, in range: ClosedRange<Number>
  ) throws(ZonaiError) {
    guard range.contains(value) else {
      throw ZonaiError(
        .invalidOption, "\(name) is \(value); it must be from \(range.lowerBound) to \(range.upperBound)")
    }
  }
}
