import ZonaiJSON

/// Google's service account: the JSON file that the Firebase console gives out under "Service accounts".
struct ServiceAccount: Sendable {
  let projectId: String
  let clientEmail: String
  let privateKeyId: String?
  let tokenURI: String
  let key: SigningKey
  /// Tells this account and key from others, without key material.
  let digest: String
  /// What its way had changed and was put right, as clauses that follow the name of the source.
  let repairs: [String]

  static let googleTokenURI = "https://oauth2.googleapis.com/token"

  init(json text: String, source: KeySource, setting: String) throws(SetupError) {
    let (members, isRepaired) = try ServiceAccount.members(text, source, setting)
    func field(_ name: String) throws(SetupError) -> String {
      guard let value = members[name]?.string, !value.isEmpty else {
        throw SetupError(
          .malformed, setting: setting,
          "\(source) lacks '\(name)'; use the whole file as the Firebase console gave it")
      }
      return value
    }
    projectId = try field("project_id")
    clientEmail = try field("client_email")
    privateKeyId = members["private_key_id"]?.string
    tokenURI = members["token_uri"]?.string ?? ServiceAccount.googleTokenURI
    let arrival = PEMArrival(try field("private_key"))
    key = try ServiceAccount.privateKey(arrival, source, setting)
    digest = key.digest
    repairs =
      (isRepaired ? ["has line breaks or quotes that are not written as JSON wants them"] : [])
      + arrival.repairs.map { "holds a private_key that " + $0 }
  }

  private static func members(
    _ text: String, _ source: KeySource, _ setting: String
  ) throws(SetupError) -> (members: [String: JSON], isRepaired: Bool) {
    let advice = "download the key of a service account from the Firebase console (project settings, service accounts)"
    func wrong(_ what: String) -> SetupError {
      SetupError(.wrongKind, setting: setting, "\(source) is \(what), and FCM needs a service account; \(advice)")
    }
    let kind = KeyKind(of: text)
    guard kind == .json else { throw wrong(kind.name) }
    var isRepaired = false
    var parsed = JSON.null
    do throws(JSONError) {
      parsed = try JSON(parsing: text)
    } catch {
      guard let repaired = JSONRepair.reading(text) else {
        throw SetupError(.malformed, setting: setting, "\(source) is not JSON: \(error)")
      }
      parsed = repaired
      isRepaired = true
    }
    guard let members = parsed.object else { throw wrong("a JSON file of another kind") }
    if members["project_info"] != nil { throw wrong("the application's own google-services.json") }
    if members["web"] != nil || members["installed"] != nil { throw wrong("an OAuth client's file") }
    switch members["type"]?.string {
    case "service_account": return (members, isRepaired)
    case "authorized_user": throw wrong("a person's own login (type 'authorized_user', as gcloud writes it)")
    case let type?: throw wrong("a credential of the type '\(type.prefix(40))'")
    case nil: throw wrong("a JSON file without 'type'")
    }
  }

  private static func privateKey(
    _ arrival: PEMArrival, _ source: KeySource, _ setting: String
  ) throws(SetupError) -> SigningKey {
    func damaged(_ clause: String) -> SetupError {
      SetupError(
        .malformed, setting: setting,
        "'private_key' in \(source) is damaged: \(clause); copy the file again from where it is whole")
    }
    if let damage = arrival.damage { throw damaged(damage) }
    let kind = KeyKind(of: arrival.text)
    func wrong(_ what: String) -> SetupError {
      SetupError(
        .wrongKind, setting: setting,
        "'private_key' in \(source) is \(what), and a service account holds an RSA key in the PKCS#8 form; "
          + "use the file as the Firebase console gave it")
    }
    guard kind == .pkcs8 else { throw wrong(kind.name) }
    do throws(SigningKey.Problem) {
      return try SigningKey.read(pem: arrival.text, for: .rs256)
    } catch {
      switch error {
      case .damaged: throw damaged("it begins like a private key and cannot be read as one")
      case .otherAlgorithm(let name): throw wrong("a key for \(name)")
      case .otherCurve(let name): throw wrong("an EC key on the curve \(name)")
      case .tooShort(let bits): throw wrong("an RSA key of \(bits) bits, which is too short")
      }
    }
  }
}
