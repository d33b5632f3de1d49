import CZonaiOpenSSL
import ZonaiCore
import ZonaiTransports

/// The lane under measurement, with keys made for the occasion: the responder checks none.
enum Lanes {
  static func make(_ options: Options) async throws -> any Transport {
    let endpoint = Endpoint(host: "127.0.0.1", port: options.port)
    switch options.lane {
    case .apns:
      var configuration = APNsConfiguration(
        key: .inline(try pem(zonai_openssl_new_p256_key())), keyId: "ABCDE12345", teamId: "TEAM123456",
        bundleId: "com.example.benchmark")
      configuration.endpoint = endpoint
      configuration.caFile = options.ca
      configuration.connectionsPerLane = options.connections
      return try await APNsTransport(configuration)
    case .fcm:
      let key = try pem(zonai_openssl_new_rsa_key(2048)).split(separator: "\n", omittingEmptySubsequences: false)
        .joined(separator: "\\n")
      let account =
        #"{"type":"service_account","project_id":"benchmark","private_key_id":"k","private_key":""# + key
        + #"","client_email":"benchmark@benchmark.iam.gserviceaccount.com","token_uri":"https://oauth2.googleapis.com/token"}"#
      var configuration = FCMConfiguration(serviceAccount: .inline(account))
      configuration.endpoint = endpoint
      configuration.oauthEndpoint = endpoint
      configuration.caFile = options.ca
      configuration.connectionsPerLane = options.connections
      return try await FCMTransport(configuration)
    }
  }

  private static func pem(_ key: OpaquePointer?) throws -> String {
    guard let key, let bio = BIO_new(BIO_s_mem()) else { throw Options.Mistake(description: "cannot make a key") }
    defer {
      EVP_PKEY_free(key)
      BIO_free(bio)
    }
    var bytes: UnsafeMutablePointer<CChar>?
    guard PEM_write_bio_PKCS8PrivateKey(bio, key, nil, nil, 0, nil, nil) == 1 else {
      throw Options.Mistake(description: "cannot write a key")
    }
    let count = zonai_openssl_bio_bytes(bio, &bytes)
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// A token of the lane's shape.
  static func token(_ number: Int, _ lane: Options.Lane) -> String {
    let hex = String(number, radix: 16)
    let padded = String(repeating: "0", count: 16 - hex.count) + hex
    switch lane {
    case .apns: return String(repeating: padded, count: 4)
    case .fcm: return "benchmark:APA91b" + String(repeating: "x" + padded, count: 8)
    }
  }

  static let message = PushMessage(
    title: "Twelve new articles", body: String(repeating: "What the day brought. ", count: 8),
    data: ["screen": "news", "edition": "evening"], collapseKey: "news")
}
