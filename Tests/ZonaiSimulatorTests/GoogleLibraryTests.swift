import Testing
import ZonaiJSON
import ZonaiSimulator

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension Bench {
  /// Runs a script of Python, which is told the simulator's folder, and reads the JSON that it
  /// prints.
  fileprivate func python(_ program: String, _ script: String) async throws -> JSON {
    try Program.write(directory + "/judge.py", script)
    // The libraries take the authority from the environment, as their users give it.
    let ending = try await Program.run(
      "/usr/bin/env",
      [
        "REQUESTS_CA_BUNDLE=\(directory)/ca.pem", "SSL_CERT_FILE=\(directory)/ca.pem", "NO_PROXY=127.0.0.1", program,
        "-W",
        "ignore", directory + "/judge.py", directory,
      ], in: directory)
    do {
      return try JSON(parsing: ending.output)
    } catch {
      throw Program.NotRun(description: "the library did not judge: \(ending.output)")
    }
  }
}

/// Debian's python3-google-auth, unmodified: it reads the service account and asks where that says.
@Suite struct GoogleAuthTests {
  private static let script = """
    import json, sys
    from google.auth.transport.requests import AuthorizedSession, Request
    from google.auth.exceptions import RefreshError
    from google.oauth2 import service_account
    folder = sys.argv[1]
    urls = json.load(open(folder + "/simulator.json"))
    scopes = ["https://www.googleapis.com/auth/firebase.messaging"]
    credentials = service_account.Credentials.from_service_account_file(folder + "/service-account.json", scopes=scopes)
    said = {}
    try:
        credentials.refresh(Request())
        said["valid"] = credentials.valid
        url = urls["fcm"] + "/v1/projects/" + credentials.project_id + "/messages:send"
        answer = AuthorizedSession(credentials).post(url, json={"message": {"token": "from-google-auth"}})
        said["status"] = answer.status_code
    except RefreshError as error:
        said["refused"] = str(error)
    print(json.dumps(said))
    """

  @Test func `google-auth gets an access token, and FCM takes it`() async throws {
    try await Bench.with { bench in
      let said = try await bench.python("/usr/bin/python3", Self.script)
      #expect(said == ["valid": true, "status": 200])
      #expect(try await bench.count("oauth", "200") == 1)
      #expect(try await bench.status("inbox", "recipients") == 1)
    }
  }

  @Test func `it hears that its key was revoked, and its next file is good`() async throws {
    try await Bench.with { bench in
      try await bench.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "revoke"])
      let refused = try await bench.python("/usr/bin/python3", Self.script)
      #expect(refused["refused"]?.string?.contains("invalid_grant") == true, "\(refused.text)")
      try await bench.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "rotate"])
      let said = try await bench.python("/usr/bin/python3", Self.script)
      #expect(said == ["valid": true, "status": 200])
    }
  }
}

/// A Python that has firebase-admin; `Scripts/test --long` makes one.
private let firebasePython = getenv("ZONAI_TEST_FIREBASE_PYTHON").map { String(cString: $0) }

/// Google's firebase-admin from PyPI, unmodified. Its address of FCM is an attribute of a class and
/// is set there.
@Suite(.enabled("firebase-admin is not installed: run Scripts/test --long") { firebasePython != nil })
struct FirebaseAdminTests {
  private static let script = """
    import asyncio, json, sys
    import firebase_admin
    from firebase_admin import credentials, exceptions, messaging
    folder = sys.argv[1]
    urls = json.load(open(folder + "/simulator.json"))
    messaging._MessagingService.FCM_URL = urls["fcm"] + "/v1/projects/{0}/messages:send"
    firebase_admin.initialize_app(credentials.Certificate(folder + "/service-account.json"))

    def message(token, **more):
        return messaging.Message(token=token, notification=messaging.Notification(title="Hello"), **more)

    def outcome(send):
        try:
            send()
            return "sent"
        except exceptions.FirebaseError as error:
            return type(error).__name__

    android = messaging.AndroidConfig(ttl=3600, priority="high", collapse_key="news",
                                      notification=messaging.AndroidNotification(click_action="OPEN", channel_id="news"))
    apns = messaging.APNSConfig(headers={"apns-priority": "10"},
                                payload=messaging.APNSPayload(messaging.Aps(badge=1, thread_id="news")))
    said = {
        "sent": outcome(lambda: messaging.send(message("alive", data={"issue": "42"}, android=android, apns=apns))),
        "dryRun": outcome(lambda: messaging.send(message("dry"), dry_run=True)),
        "uninstalled": outcome(lambda: messaging.send(message("gone"))),
        "otherProject": outcome(lambda: messaging.send(message("stranger"))),
        "throttled": outcome(lambda: messaging.send(message("busy"))),
        "malformed": outcome(lambda: messaging.send(message("no token"))),
        "each": [r.success for r in messaging.send_each([message(t) for t in ("one", "gone", "two")]).responses],
    }
    answers = asyncio.run(messaging.send_each_async([message("three"), message("gone")]))
    said["async"] = [type(r.exception).__name__ for r in answers.responses]
    print(json.dumps(said))
    """

  @Test func `firebase-admin sends, and hears of each device what is the matter with it`() async throws {
    try await Bench.with { bench in
      for (token, state) in [("gone", "uninstalled"), ("stranger", "otherProject"), ("busy", "throttled")] {
        try await bench.simulator.control("PUT", "/devices/\(token)", ["state": .string(state)])
      }
      let python = try #require(firebasePython)
      let said = try await bench.python(python, Self.script)
      let expected: JSON = [
        "sent": "sent", "dryRun": "sent", "uninstalled": "UnregisteredError", "otherProject": "SenderIdMismatchError",
        "throttled": "QuotaExceededError", "malformed": "InvalidArgumentError", "each": [true, false, true],
        "async": ["NoneType", "UnregisteredError"],
      ]
      #expect(said == expected)
      // What was tried only and what was refused reached no device.
      let inbox = try await bench.simulator.control("GET", "/inbox")
      #expect(
        inbox["messages"]?.array?.compactMap { $0["token"]?.string }.sorted() == ["alive", "one", "three", "two"])
      let alive = try await bench.simulator.control("GET", "/inbox?token=alive")["messages"]?.array?.first
      let sent = alive?["body"]?["message"]
      #expect(sent?["android"]?["notification"]?["click_action"] == "OPEN")
      #expect(sent?["apns"]?["payload"]?["aps"]?["badge"] == 1)
    }
  }
}
