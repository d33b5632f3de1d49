/// The private key of a `.p8` file from Apple's developer pages.
struct APNsKey: Sendable {
  let key: SigningKey
  /// Tells this key from others, without key material.
  let digest: String
  /// What its way had changed and was put right, as clauses that follow the name of the source.
  let repairs: [String]

  init(pem arrived: String, source: KeySource, setting: String) throws(SetupError) {
    func damaged(_ clause: String) -> SetupError {
      SetupError(
        .malformed, setting: setting,
        "\(source) is damaged: \(clause); copy the .p8 file again from where it is whole")
    }
    let arrival = PEMArrival(arrived)
    if let damage = arrival.damage { throw damaged(damage) }
    repairs = arrival.repairs
    let pem = arrival.text
    let kind = KeyKind(of: pem)
    let advice = "create a key for Apple Push Notifications service at developer.apple.com and use its .p8 file"
    func wrong(_ what: String, _ advice: String) -> SetupError {
      SetupError(.wrongKind, setting: setting, "\(source) is \(what), and APNs needs the .p8 key; \(advice)")
    }
    switch kind {
    case .pkcs8, .sec1: break
    case .encrypted:
      throw wrong(kind.name, "decrypt it with: openssl pkcs8 -in ENCRYPTED -out KEY.p8")
    case .publicKey: throw wrong(kind.name, "use the private one, the .p8 file as Apple gave it")
    case .certificate: throw wrong(kind.name, "certificates are not supported; \(advice)")
    case .json where pem.contains("private_key"):
      throw wrong("a JSON file that looks like Google's service account", "that one belongs to fcm.serviceAccount")
    default: throw wrong(kind.name, advice)
    }
    do throws(SigningKey.Problem) {
      key = try SigningKey.read(pem: pem, for: .es256)
    } catch {
      switch error {
      case .damaged: throw damaged("it begins like a private key and cannot be read as one")
      case .otherAlgorithm(let name): throw wrong("a key for \(name)", "which is EC on P-256; \(advice)")
      case .otherCurve(let name): throw wrong("an EC key on the curve \(name)", "which is on P-256; \(advice)")
      case .tooShort(let bits): throw wrong("a key of \(bits) bits", advice)
      }
    }
    digest = key.digest
  }
}
