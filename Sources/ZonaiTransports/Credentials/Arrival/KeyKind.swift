/// What a text is that was given as a private key, told by its outside, so that a wrong one can be called by its name.
enum KeyKind: Sendable, Hashable {
  case pkcs8
  case pkcs1
  case sec1
  case encrypted
  case publicKey
  case certificate
  case openSSH
  case json
  case empty
  case unknown

  init(of text: String) {
    // The first PEM block decides, but for parameters that OpenSSL writes before an EC key.
    let labels = KeyKind.labels(in: text).filter { $0 != "EC PARAMETERS" }
    switch labels.first {
    case _ where text.contains("Proc-Type: 4,ENCRYPTED"), "ENCRYPTED PRIVATE KEY": self = .encrypted
    case "PRIVATE KEY": self = .pkcs8
    case "RSA PRIVATE KEY": self = .pkcs1
    case "EC PRIVATE KEY": self = .sec1
    case "PUBLIC KEY", "RSA PUBLIC KEY": self = .publicKey
    case "CERTIFICATE", "TRUSTED CERTIFICATE", "CERTIFICATE REQUEST": self = .certificate
    case "OPENSSH PRIVATE KEY": self = .openSSH
    default:
      let first = text.first { !$0.isWhitespace && $0 != "\u{FEFF}" }
      self = first == nil ? .empty : first == "{" ? .json : .unknown
    }
  }

  private static func labels(in text: String) -> [Substring] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      guard line.hasPrefix("-----BEGIN "), let end = line.range(of: "-----", from: 11) else { return nil }
      return line[line.index(line.startIndex, offsetBy: 11)..<end]
    }
  }

  /// What it is, for a sentence that begins "this is".
  var name: String {
    switch self {
    case .pkcs8: "a private key (PKCS#8)"
    case .pkcs1: "an RSA key in the PKCS#1 form"
    case .sec1: "an EC key in the SEC1 form"
    case .encrypted: "a private key that is encrypted with a passphrase"
    case .publicKey: "a public key"
    case .certificate: "a certificate"
    case .openSSH: "an OpenSSH key"
    case .json: "a JSON file"
    case .empty: "empty"
    case .unknown: "not a key in PEM form"
    }
  }
}

extension Substring {
  /// Where a text begins, looked for from so many characters on.
  fileprivate func range(of text: String, from offset: Int) -> Index? {
    var here = index(startIndex, offsetBy: offset, limitedBy: endIndex) ?? endIndex
    while here < endIndex {
      if self[here...].hasPrefix(text) { return here }
      here = index(after: here)
    }
    return nil
  }
}
