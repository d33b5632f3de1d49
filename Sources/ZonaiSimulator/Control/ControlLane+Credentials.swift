import ZonaiJSON

extension ControlLane {
  private enum Account: String, CaseIterable {
    case fcm
    case apns
  }

  private enum Action: String, CaseIterable {
    /// The key signs nothing any more.
    case revoke
    /// A revoked key is good again.
    case restore
    /// A new key is made, its file written and named in `zonai.json`. The old one stays good until it is revoked.
    case rotate
    /// FCM: the access tokens that were issued so far have run out.
    case expire
  }

  var clock: JSON { ["now": .integer(world.clock.now), "offsetMs": .integer(world.clock.offset)] }

  func turnClock(_ body: JSON) throws(ControlRefusal) -> JSON {
    var fields = try ControlFields(body)
    let advance = try fields.number("advanceMs", in: -1_000_000_000_000...1_000_000_000_000)
    let now = try fields.number("now", in: 0...4_102_444_800_000)
    let resets = try fields.flag("reset") ?? false
    try fields.finish()
    switch (advance, now, resets) {
    case (let advance?, nil, false): world.clock.advance(by: advance)
    case (nil, let now?, false): world.clock.set(to: now)
    case (nil, nil, true): world.clock.reset()
    default:
      throw ControlRefusal(400, "bad_body", "give one of \"advanceMs\", \"now\" and \"reset\"")
    }
    return clock
  }

  var credentials: JSON {
    [
      "fcm": [
        "keyId": .string(world.google.currentKeyID), "email": .string(world.google.email),
        "revoked": .array(world.google.keys.filter(\.value.isRevoked).keys.sorted().map { .string($0) }),
        "accessTokenSeconds": .integer(world.google.accessTokenSeconds),
      ],
      "apns": [
        "keyId": .string(world.apple.currentKeyID), "teamId": .string(world.apple.teamID),
        "revoked": .array(world.apple.keys.filter(\.value.isRevoked).keys.sorted().map { .string($0) }),
        "providerTokenSeconds": .integer(world.apple.tokenSeconds),
        "providerTokenUpdateSeconds": .integer(world.apple.updateSeconds),
        "providerTokens": .integer(world.apple.shown),
      ],
    ]
  }

  func changeCredentials(_ body: JSON) throws(ControlRefusal) -> JSON {
    var fields = try ControlFields(body)
    guard let account = try fields.choice("lane", as: Account.self) else { throw .field("lane", "is missing") }
    let action = try fields.choice("action", as: Action.self)
    let keyID = try fields.text("keyId")
    switch account {
    case .fcm:
      let seconds = try fields.number("accessTokenSeconds", in: 1...86_400)
      try fields.finish()
      if let seconds { world.google.accessTokenSeconds = seconds }
      try changeGoogle(action, keyID)
    case .apns:
      let seconds = try fields.number("providerTokenSeconds", in: 0...86_400)
      let update = try fields.number("providerTokenUpdateSeconds", in: 0...86_400)
      let environment = try fields.choice("environment", as: AppleTeam.Environment.self)
      try fields.finish()
      if let seconds { world.apple.tokenSeconds = seconds }
      if let update { world.apple.updateSeconds = update }
      try changeApple(action, keyID, environment)
    }
    return credentials
  }

  private func changeGoogle(_ action: Action?, _ keyID: String?) throws(ControlRefusal) {
    let id = keyID ?? world.google.currentKeyID
    guard world.google.keys[id] != nil else { throw .field("keyId", "is no key of this account") }
    switch action {
    case .revoke: world.google.keys[id]?.isRevoked = true
    case .restore: world.google.keys[id]?.isRevoked = false
    case .expire: world.google.expireAccessTokens(now: world.clock.seconds)
    case .rotate:
      try write { () throws(SimulatorError) in
        let pair = try KeyPair(.rsa)
        world.google.currentKeyID = RandomBytes.hex(20)
        world.google.keys[world.google.currentKeyID] = .init(publicKey: pair.publicKey)
        try world.folder.writeServiceAccount(
          world.google, endpoints: world.endpoints, privatePEM: pair.privatePEM)
      }
    case nil: break
    }
  }

  private func changeApple(
    _ action: Action?, _ keyID: String?, _ environment: AppleTeam.Environment?
  ) throws(ControlRefusal) {
    let id = keyID ?? world.apple.currentKeyID
    guard world.apple.keys[id] != nil else { throw .field("keyId", "is no key of this team") }
    if let environment { world.apple.keys[id]?.environment = environment }
    switch action {
    case .revoke: world.apple.keys[id]?.isRevoked = true
    case .restore: world.apple.keys[id]?.isRevoked = false
    case .expire:
      throw .field("action", "\"expire\" is FCM's; turn the clock, or set \"providerTokenSeconds\"")
    case .rotate:
      try write { () throws(SimulatorError) in
        let pair = try KeyPair(.p256)
        world.apple.currentKeyID = RandomBytes.keyID()
        world.apple.keys[world.apple.currentKeyID] = .init(publicKey: pair.publicKey)
        try world.folder.writeProviderKey(world.apple.currentKeyID, privatePEM: pair.privatePEM)
        try world.folder.writeConfiguration(world.google, world.apple)
      }
    case nil: break
    }
  }

  private func write(_ body: () throws(SimulatorError) -> Void) throws(ControlRefusal) {
    do throws(SimulatorError) { try body() } catch {
      throw ControlRefusal(500, "cannot_write", error.description)
    }
  }
}
