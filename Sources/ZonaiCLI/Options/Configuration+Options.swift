import ZonaiCore

extension Configuration {
  /// The engine's settings, where the file has none with the engine's own defaults.
  var options: ZonaiOptions {
    var options = ZonaiOptions()
    if let onPermanentRejection { options.onPermanentRejection = onPermanentRejection }
    if let batchSize {
      options.batchSize = batchSize
      options.firstBatchSize = min(options.firstBatchSize, batchSize)
    }
    if let batchesInFlight { options.batchesInFlight = batchesInFlight }
    if let maxAttemptsPerBatch { options.maxAttemptsPerBatch = maxAttemptsPerBatch }
    options.retryBaseSeconds = retryBase
    if let maxRetryDelay { options.maxRetryDelaySeconds = maxRetryDelay }
    if let hookTimeout { options.hookTimeoutSeconds = hookTimeout }
    if let hooksAtOnce { options.hooksAtOnce = hooksAtOnce }
    if let lease { options.leaseSeconds = lease }
    if let gracePeriod { options.gracePeriodSeconds = gracePeriod }
    if let poll { options.pollSeconds = poll }
    if let retention { options.retentionSeconds = retention.seconds }
    return options
  }
}
