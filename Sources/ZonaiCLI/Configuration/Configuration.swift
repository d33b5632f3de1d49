import ZonaiCore
import ZonaiJSON
import ZonaiTransports

/// What `--config` names: credentials, lanes, and how to go about it. docs/configuration.md describes every field.
///
/// What is nil was not written; the engine and the transports have the defaults.
struct Configuration: Sendable {
  struct FCM: Sendable {
    /// nil: the service account's own project.
    var projectId: String?
    var serviceAccount: KeySource
  }

  struct APNs: Sendable {
    var key: KeySource
    var keyId: String
    var teamId: String
    var bundleId: String
    var useSandbox: Bool
    var allTokensAreOfThisEnvironment: Bool
    var sharesProviderToken: Bool
  }

  var app: AppName?
  var fcm: FCM?
  var apns: APNs?
  var onPermanentRejection: Policy?
  var batchSize: Int?
  var batchesInFlight: Int?
  var connectionsPerLane: Int?
  var maxAttemptsPerBatch: Int?
  var hooksAtOnce: Int?
  /// In milliseconds, as the transports have it.
  var requestTimeout: Int64?
  /// In seconds, as the engine has these.
  var retryBase: Double?
  var maxRetryDelay: Double?
  var hookTimeout: Double?
  var lease: Double?
  var gracePeriod: Double?
  var poll: Double?
  var retention: RetentionDays?
}

extension Configuration {
  /// Reads a file. Paths in it are relative to the folder that it is in.
  init(file: String) throws(CommandFailure) {
    let bytes = try TextFile.read(file, as: "the configuration file")
    try self.init(parsing: bytes, file: file)
  }

  init(parsing bytes: [UInt8], file: String) throws(CommandFailure) {
    let document = try TextFile.json(bytes, file: file)
    do throws(FieldFault) {
      try self.init(FieldReader(document, document: file, fields: Configuration.fields))
    } catch {
      throw .configuration(error.sentence)
    }
  }

  private init(_ top: FieldReader) throws(FieldFault) {
    app = try top.app("app")
    fcm = try top.object("fcm", fields: FCM.fields).map(FCM.init)
    apns = try top.object("apns", fields: APNs.fields).map(APNs.init)
    if fcm == nil, apns == nil { throw top.problem("names neither 'fcm' nor 'apns', so nothing can be sent; add one") }
    onPermanentRejection = try top.word("onPermanentRejection", Policy.allCases)
    batchSize = try top.integer("batchSize", in: 1...10_000)
    batchesInFlight = try top.integer("batchesInFlight", in: 1...64)
    connectionsPerLane = try top.integer("connectionsPerLane", in: 1...64)
    maxAttemptsPerBatch = try top.integer("maxAttemptsPerBatch", in: 1...100)
    hooksAtOnce = try top.integer("hooksAtOnce", in: 1...64)
    requestTimeout = try top.seconds("requestTimeoutSeconds", in: 0.1...600).map { Int64(($0 * 1000).rounded()) }
    retryBase = try top.seconds("retryBaseSeconds", in: 0.001...3600)
    maxRetryDelay = try top.seconds("maxRetryDelaySeconds", in: 0.001...86_400)
    hookTimeout = try top.seconds("hookTimeoutSeconds", in: 0.01...3600)
    lease = try top.seconds("leaseSeconds", in: 1...3600)
    gracePeriod = try top.seconds("gracePeriodSeconds", in: 0...3600)
    poll = try top.seconds("pollSeconds", in: 0.01...3600)
    retention = try top.retention("retentionDays")
  }

  /// Every name that the file may hold, at whatever depth.
  static var allFields: [String] { fields + FCM.fields + APNs.fields }

  private static let fields = [
    "app", "fcm", "apns", "onPermanentRejection", "batchSize", "batchesInFlight", "connectionsPerLane",
    "maxAttemptsPerBatch",
    "requestTimeoutSeconds", "retryBaseSeconds", "maxRetryDelaySeconds", "hookTimeoutSeconds", "hooksAtOnce",
    "leaseSeconds", "gracePeriodSeconds", "pollSeconds", "retentionDays",
  ]
}

extension Configuration.FCM {
  fileprivate static let fields = ["projectId", "serviceAccount"]

  fileprivate init(_ fields: FieldReader) throws(FieldFault) {
    projectId = try fields.string("projectId")
    if let object = fields.members["serviceAccount"], object.object != nil {
      serviceAccount = .inline(object.text)
    } else if let path = try fields.path("serviceAccount", else: "the path of a file, or that file's object") {
      serviceAccount = .file(path)
    } else {
      throw fields.missing("serviceAccount", "the path of the service account's JSON file")
    }
  }
}

extension Configuration.APNs {
  fileprivate static let fields = [
    "keyFile", "key", "keyId", "teamId", "bundleId", "useSandbox", "allTokensAreOfThisEnvironment",
    "shareProviderToken",
  ]

  fileprivate init(_ fields: FieldReader) throws(FieldFault) {
    switch (try fields.path("keyFile"), try fields.string("key")) {
    case (let path?, nil): key = .file(path)
    case (nil, let pem?): key = .inline(pem)
    case (nil, nil): throw fields.missing("keyFile", "the path of the .p8 file")
    case (_?, _?): throw fields.problem("names both 'apns.keyFile' and 'apns.key'; keep one")
    }
    keyId = try fields.required("keyId", "the 10 characters that Apple shows beside the key")
    teamId = try fields.required("teamId", "the 10 characters of the developer team")
    bundleId = try fields.required("bundleId", "the app's bundle id")
    useSandbox = try fields.boolean("useSandbox") ?? false
    allTokensAreOfThisEnvironment = try fields.boolean("allTokensAreOfThisEnvironment") ?? false
    sharesProviderToken = try fields.boolean("shareProviderToken") ?? true
  }
}

extension FieldReader {
  /// A path, made to begin where the file is.
  fileprivate func path(_ name: String, else expected: String = "the path of a file") throws(FieldFault) -> String? {
    try string(name, else: expected).map { TextFile.resolve($0, besides: document) }
  }

  fileprivate func app(_ name: String) throws(FieldFault) -> AppName? {
    guard let app = try string(name).map(AppName.init(rawValue:)) else { return nil }
    if let problem = app.problem { throw self.problem("'\(name)': \(problem)") }
    return app
  }

  /// A number of days, or "off".
  fileprivate func retention(_ name: String) throws(FieldFault) -> RetentionDays? {
    guard let value = members[name], !value.isNull else { return nil }
    if let number = value.number, RetentionDays.bounds.contains(number) { return RetentionDays(days: number) }
    guard let text = value.string, let never = try? RetentionDays(text), never.seconds == nil else {
      throw wrong(name, "a number of days, 0.01 to 36525, or \"off\"")
    }
    return never
  }
}
