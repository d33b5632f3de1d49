// The README shows this file's imports and the body of the function, exactly: `ReadmeTests` compares.

import ZonaiCore
import ZonaiSQLite
import ZonaiTransports

func readmeExample() async throws {
  let store = try SQLiteStore(path: "app.db")
  let fcm = try await FCMTransport(FCMConfiguration(serviceAccount: .file("service-account.json")))
  let apns = try await APNsTransport(
    APNsConfiguration(key: .file("AuthKey.p8"), keyId: "ABC123DEFG", teamId: "TEAM123456", bundleId: "com.example.app"))
  let hook: PushRejectionHandler = { lost in
    print("row \(lost.key) of \(lost.table): \(lost.transport) says \(lost.reason)")
    return .followPolicy
  }
  let zonai = try Zonai(store: store, transports: [fcm, apns], onPushRejected: hook)
  let readers = Audience("users", token: "push_token", platform: .column("phone"), where: Column("active") == true)
  let job = try await zonai.push(PushMessage(title: "Hello", body: "The new issue is out"), to: readers)
  print(try await zonai.run(only: job.id).counts)
}
