import ZonaiJSON

/// The files of credentials, in the form in which Google and Apple hand them out.
extension SimulatorFolder {
  /// Google's client libraries ask for tokens where `token_uri` says, so it is the simulator's own.
  func writeServiceAccount(
    _ google: GoogleAccount, endpoints: SimulatorEndpoints, privatePEM: String
  ) throws(SimulatorError) {
    let file: JSON = [
      "type": "service_account", "project_id": .string(google.projectID),
      "private_key_id": .string(google.currentKeyID), "private_key": .string(privatePEM),
      "client_email": .string(google.email), "client_id": "118500000000000000001",
      "auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": .string(endpoints.oauth + "/token"),
      "universe_domain": "googleapis.com",
    ]
    try write("service-account.json", file.prettyText + "\n", isSecret: true)
  }

  static let keyPrefix = "AuthKey_"
  static func keyFileName(_ keyID: String) -> String { "\(keyPrefix)\(keyID).p8" }

  func writeProviderKey(_ keyID: String, privatePEM: String) throws(SimulatorError) {
    try writeKey(Self.keyFileName(keyID), privatePEM)
  }

  /// A configuration that Zonai's commands use as it is. Paths are relative to it.
  func writeConfiguration(_ google: GoogleAccount, _ apple: AppleTeam) throws(SimulatorError) {
    let file: JSON = [
      "fcm": ["projectId": .string(google.projectID), "serviceAccount": "service-account.json"],
      "apns": [
        "keyFile": .string(Self.keyFileName(apple.currentKeyID)), "keyId": .string(apple.currentKeyID),
        "teamId": .string(apple.teamID), "bundleId": .string(apple.bundleID), "useSandbox": false,
      ],
      // The services want ten seconds and more before a repeat; a person at a simulator does not want to wait for them.
      "retryBaseSeconds": 1,
    ]
    try write("zonai.json", file.prettyText + "\n")
  }

  func writeEndpoints(_ endpoints: SimulatorEndpoints) throws(SimulatorError) {
    let file: JSON = [
      "kind": "zonai-simulator", "fcm": .string(endpoints.fcm), "oauth": .string(endpoints.oauth),
      "apns": .string(endpoints.apns), "apnsSandbox": .string(endpoints.apnsSandbox),
      "control": .string(endpoints.control),
    ]
    try write("simulator.json", file.prettyText + "\n")
  }
}
