/// The team whose keys sign provider tokens, and what it may do.
struct AppleTeam {
  struct Key {
    var publicKey: PublicKey
    var isRevoked = false
    var environment = Environment.both
  }

  /// Which of APNs' hosts a key is good for. Apple's older keys are good for both.
  enum Environment: String, CaseIterable {
    case both
    case production
    case sandbox
  }

  let teamID: String
  let bundleID: String
  var keys: [String: Key]
  /// The one that `zonai.json` names.
  var currentKeyID: String
  /// How far a token's `iat` may lie from now.
  var tokenSeconds: Int64 = 3600
  /// How long the team waits between two new tokens.
  var updateSeconds: Int64 = 1200
  /// When the team last showed a new token.
  private var lastUpdate: Int64?
  /// The tokens that the team showed, and when it did so first. All keys of a team count as one.
  private var known: [String: Int64] = [:]
  /// How many different tokens the team has shown that were taken.
  private(set) var shown: Int64 = 0

  init(teamID: String, bundleID: String, keyID: String, publicKey: PublicKey) {
    self.teamID = teamID
    self.bundleID = bundleID
    keys = [keyID: Key(publicKey: publicKey)]
    currentKeyID = keyID
  }

  /// Whether the team may use this valid token now: it is known, or it is long enough since the last new one.
  mutating func admit(_ token: String, now: Int64) -> Bool {
    if known[token] != nil { return true }
    // Without a wait nothing needs to be remembered, however often a client signs.
    guard updateSeconds > 0 else { return true }
    if let last = lastUpdate, now - last < updateSeconds { return false }
    // What is out of date is refused for its age before it comes here.
    known = known.filter { now - $0.value < tokenSeconds }
    known[token] = now
    shown += 1
    lastUpdate = now
    return true
  }
}
