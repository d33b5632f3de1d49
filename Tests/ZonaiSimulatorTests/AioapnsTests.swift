import Testing
import ZonaiJSON
import ZonaiSimulator

/// Debian's python3-aioapns, unmodified, which signs its own provider tokens and speaks its own HTTP/2.
@Suite struct AioapnsTests {
  /// Its host and port are class attributes, made to be set; all else is its public interface.
  static let script = """
    import asyncio, json, logging, ssl, sys
    from aioapns import APNs, NotificationRequest, PushType
    from aioapns.connection import APNsProductionClientProtocol as Production
    logging.disable(logging.CRITICAL)
    directory, port, cases = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    settings = json.load(open(directory + "/zonai.json"))["apns"]
    Production.APNS_SERVER, Production.APNS_PORT = "localhost", port

    async def push(case):
        context = ssl.create_default_context(cafile=None if case.get("systemCA") else directory + "/ca.pem")
        key = case.get("keyFile", directory + "/" + settings["keyFile"])
        apns = APNs(key=key, key_id=case.get("keyId", settings["keyId"]), team_id=case.get("teamId", settings["teamId"]),
                    topic=case.get("topic", settings["bundleId"]), ssl_context=context, max_connections=1,
                    max_connection_attempts=1)
        def request(number):
            return NotificationRequest(device_token=case.get("token", "%064x" % number),
                message={"aps": {"alert": "x" * case.get("size", 1)}}, push_type=PushType(case.get("type", "alert")),
                priority=case.get("priority"), collapse_key=case.get("collapse"))
        try:
            # The first push opens the way for more streams, as with Apple.
            answers = [await apns.send_notification(request(0))]
            if answers[0].is_successful:
                answers += await asyncio.gather(*[apns.send_notification(request(n)) for n in range(1, case.get("count", 1))])
            return sorted({a.status + " " + (a.description or "") for a in answers})
        except Exception as error:
            return [type(error).__name__]
        finally:
            apns.pool.close()

    async def main():
        print(json.dumps([await push(case) for case in cases]))

    asyncio.run(asyncio.wait_for(main(), 120))
    """

  private func judge(_ bench: Bench, _ cases: [JSON]) async throws -> JSON {
    try Program.write(bench.directory + "/judge.py", Self.script)
    let port = try #require(bench.simulator.endpoints.apns.split(separator: ":").last)
    // Each case is a client of its own with a token of its own.
    try await bench.simulator.control("POST", "/credentials", ["lane": "apns", "providerTokenUpdateSeconds": 0])
    let ending = try await Program.run(
      "/usr/bin/python3",
      [bench.directory + "/judge.py", bench.directory, String(port), JSON.array(cases).text], in: bench.directory)
    do {
      return try JSON(parsing: ending.output)
    } catch {
      throw Program.NotRun(description: "aioapns did not judge: \(ending.output)")
    }
  }

  @Test func `it pushes by the hundred`() async throws {
    try await Bench.with { bench in
      #expect(try await judge(bench, [["count": 300]]) == [["200 "]])
      let inbox = try await bench.status("inbox")
      #expect(inbox?["recipients"] == 300 && inbox?["repeated"] == 0)
    }
  }

  @Test func `it hears what is wrong, one thing at a time`() async throws {
    try await Bench.with { bench in
      let otherKey = bench.directory + "/other.p8"
      try Program.write(otherKey, Bench.pem())
      let dead = apnsToken(77)
      try await bench.simulator.control("PUT", "/devices/" + dead, ["state": "uninstalled"])
      let cases: [(JSON, JSON)] = [
        ([:], "200 "),
        (["keyFile": .string(otherKey)], "403 InvalidProviderToken"),
        (["keyId": "ABCDEFGHIJ"], "403 InvalidProviderToken"),
        (["teamId": "OTHERTEAM1"], "403 InvalidProviderToken"),
        (["topic": "com.example.other"], "400 TopicDisallowed"),
        (["token": "fcm:token"], "400 BadDeviceToken"),
        (["token": .string(dead)], "410 Unregistered"),
        (["size": 4096], "413 PayloadTooLarge"),
        (["priority": 3], "400 BadPriority"),
        (["type": "background", "priority": 10], "400 BadPriority"),
        (["type": "voip"], "400 InvalidPushType"),
        (["collapse": .string(String(repeating: "c", count: 65))], "400 BadCollapseId"),
        (["systemCA": true], "MaxAttemptsExceeded"),
      ]
      let answers = try await judge(bench, cases.map(\.0))
      for (index, (change, answer)) in cases.enumerated() {
        #expect(answers[index] == [answer], "\(change.text)")
      }
    }
  }

  @Test func `its own second token within twenty minutes is one too many`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      #expect(try await bench.push(apnsToken(1), jwt: jwt).status == 200)
      try Program.write(bench.directory + "/judge.py", Self.script)
      let port = try #require(bench.simulator.endpoints.apns.split(separator: ":").last)
      let ending = try await Program.run(
        "/usr/bin/python3", [bench.directory + "/judge.py", bench.directory, String(port), "[{}]"],
        in: bench.directory)
      #expect(try JSON(parsing: ending.output) == [["429 TooManyProviderTokenUpdates"]])
    }
  }

  @Test func `PyJWT's RS256 is accepted for an access token`() async throws {
    try await Bench.with { bench in
      let script = """
        import json, jwt, sys, time
        account = json.load(open(sys.argv[1] + "/service-account.json")); now = int(time.time())
        claims = {"iss": account["client_email"], "aud": account["token_uri"], "iat": now, "exp": now + 3600,
                  "scope": "https://www.googleapis.com/auth/cloud-platform"}
        print(jwt.encode(claims, account["private_key"], algorithm="RS256", headers={"kid": account["private_key_id"]}), end="")
        """
      try Program.write(bench.directory + "/sign.py", script)
      let ending = try await Program.run(
        "/usr/bin/python3", [bench.directory + "/sign.py", bench.directory], in: bench.directory)
      let answer = try await bench.exchange(ending.output)
      #expect(answer.status == 200, "\(answer)")
      let access = try #require(answer.json?["access_token"]?.string)
      #expect(try await bench.send(#"{"message":{"token":"a"}}"#, accessToken: access).status == 200)
    }
  }
}
