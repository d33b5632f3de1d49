import Testing
import ZonaiTransports

@testable import ZonaiCLI

struct ConfigurationTests {
  private static let whole = """
    {
      "fcm": { "projectId": "news-1", "serviceAccount": "keys/account.json" },
      "apns": { "keyFile": "/etc/keys/AuthKey_K.p8", "keyId": "ABCDE12345", "teamId": "TEAM123456",
                "bundleId": "com.example.news", "useSandbox": true,
                "shareProviderToken": false },
      "onPermanentRejection": "deleteRow", "batchSize": 250, "batchesInFlight": 2, "connectionsPerLane": 3,
      "maxAttemptsPerBatch": 5, "requestTimeoutSeconds": 12.5, "retryBaseSeconds": 0.25, "maxRetryDelaySeconds": 40,
      "hookTimeoutSeconds": 3, "hooksAtOnce": 8, "leaseSeconds": 90, "gracePeriodSeconds": 0, "pollSeconds": 1
    }
    """

  private func read(_ text: String, file: String = "conf/zonai.json") throws(CommandFailure) -> Configuration {
    try Configuration(parsing: Array(text.utf8), file: file)
  }

  @Test func `every field is read, and paths begin where the file is`() throws {
    let configuration = try read(Self.whole)
    #expect(configuration.fcm?.projectId == "news-1")
    #expect(configuration.fcm?.serviceAccount == .file("conf/keys/account.json"))
    #expect(configuration.apns?.key == .file("/etc/keys/AuthKey_K.p8"))
    #expect(configuration.apns?.keyId == "ABCDE12345")
    #expect(configuration.apns?.teamId == "TEAM123456")
    #expect(configuration.apns?.bundleId == "com.example.news")
    #expect(configuration.apns?.useSandbox == true)
    #expect(configuration.apns?.sharesProviderToken == false)
    #expect(configuration.onPermanentRejection == .deleteRow)
    #expect(configuration.batchSize == 250)
    #expect(configuration.batchesInFlight == 2)
    #expect(configuration.connectionsPerLane == 3)
    #expect(configuration.maxAttemptsPerBatch == 5)
    #expect(configuration.requestTimeout == 12_500)
    #expect(configuration.retryBase == 0.25)
    #expect(configuration.maxRetryDelay == 40)
    #expect(configuration.hookTimeout == 3)
    #expect(configuration.hooksAtOnce == 8)
    #expect(configuration.lease == 90)
    #expect(configuration.gracePeriod == 0)
    #expect(configuration.poll == 1)
  }

  @Test func `a service account and a key may stand in the file themselves`() throws {
    let configuration = try read(
      #"""
      { "fcm": { "serviceAccount": { "type": "service_account" } },
        "apns": { "key": "-----BEGIN…", "keyId": "K", "teamId": "T", "bundleId": "B" } }
      """#, file: "zonai.json")
    #expect(configuration.fcm?.serviceAccount == .inline(#"{"type":"service_account"}"#))
    #expect(configuration.fcm?.projectId == nil)
    #expect(configuration.apns?.key == .inline("-----BEGIN…"))
    #expect(configuration.apns?.useSandbox == false)
    #expect(configuration.apns?.sharesProviderToken == true)
  }

  private static let apns = #""keyId": "K", "teamId": "T", "bundleId": "B""#

  @Test(arguments: [
    ("", "z.json is not JSON: line 1, column 1: there is no JSON here"),
    ("{\n  \"fcm\": }", "z.json is not JSON: line 2, column 10: "),
    ("[]", "z.json must be an object, and is a list"),
    ("{}", "z.json: names neither 'fcm' nor 'apns', so nothing can be sent; add one"),
    (#"{"fmc": {}}"#, "z.json: there is no field 'fmc'; did you mean fcm?"),
    (#"{"fcmEndpoint": "https://x"}"#, "z.json: there is no field 'fcmEndpoint'"),
    (#"{"fcm": {"serviceAccount": "a", "endpoint": "https://x"}}"#, "z.json: there is no field 'fcm.endpoint'"),
    (#"{"fcm": "a"}"#, "z.json: 'fcm' must be an object, and is text"),
    (#"{"fcm": {}}"#, "z.json: 'fcm.serviceAccount' is missing: the path of the service account's JSON file"),
    (
      #"{"fcm": {"serviceAccount": 5}}"#,
      "z.json: 'fcm.serviceAccount' must be the path of a file, or that file's object, and is 5"
    ),
    (#"{"apns": {"bundelId": "x"}}"#, "z.json: there is no field 'apns.bundelId'; did you mean bundleId?"),
    (#"{"apns": {\#(apns)}}"#, "z.json: 'apns.keyFile' is missing: the path of the .p8 file"),
    (
      #"{"apns": {"keyFile": "a", "key": "b", \#(apns)}}"#, "z.json: names both 'apns.keyFile' and 'apns.key'; keep one"
    ),
    (
      #"{"apns": {"keyFile": "a", "teamId": "T", "bundleId": "B"}}"#,
      "z.json: 'apns.keyId' is missing: the 10 characters that Apple shows beside the key"
    ),
    (
      #"{"apns": {"keyFile": "a", \#(apns), "useSandbox": "yes"}}"#,
      "z.json: 'apns.useSandbox' must be true or false, and is text"
    ),
    (
      #"{"fcm": {"serviceAccount": "a"}, "batchSize": 0}"#,
      "z.json: 'batchSize' must be a whole number, 1 to 10000, and is 0"
    ),
    (
      #"{"fcm": {"serviceAccount": "a"}, "batchSize": "500"}"#,
      "z.json: 'batchSize' must be a whole number, 1 to 10000, and is text"
    ),
    (
      #"{"fcm": {"serviceAccount": "a"}, "leaseSeconds": 0.5}"#,
      "z.json: 'leaseSeconds' must be a number of seconds, 1 to 3600, and is 0.5"
    ),
    (
      #"{"fcm": {"serviceAccount": "a"}, "onPermanentRejection": "delete"}"#,
      #"z.json: 'onPermanentRejection' must be one of "clearColumn", "deleteRow", "none", and is text"#
    ),
    (#"{"fcm": {"serviceAccount": "a"}, "fcm": {}}"#, "z.json is not JSON: line 1, column 34: "),
  ])
  func `a mistake is refused by name and place`(text: String, sentence: String) {
    do throws(CommandFailure) {
      _ = try Configuration(parsing: Array(text.utf8), file: "z.json")
      Issue.record("accepted: \(text)")
    } catch {
      #expect(error.code == "configuration")
      #expect(error.exitCode == .refused)
      #expect(error.sentence.hasPrefix(sentence), "\(error.sentence)")
    }
  }

  @Test func `a file that is not there is named`() {
    #expect(
      throws: CommandFailure.configuration(
        "cannot read the configuration file /nowhere/z.json: No such file or directory")
    ) { try Configuration(file: "/nowhere/z.json") }
  }
}
