import Testing
import ZonaiJSON
import ZonaiSimulator

/// Streams, their limits and GOAWAY, as Debian's python3-h2 and nghttp see them.
@Suite struct StreamTests {
  /// Sends bursts of requests over one connection, each burst before anything of its answers is read, and tells what came.
  static let script = """
    import json, socket, ssl, sys
    import h2.config, h2.connection, h2.events
    directory, port, headers, bursts = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])
    context = ssl.create_default_context(cafile=directory + "/ca.pem")
    context.set_alpn_protocols(["h2"])
    link = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=60), server_hostname="localhost")
    connection = h2.connection.H2Connection(h2.config.H2Configuration())
    connection.initiate_connection()
    number, heard = 1, []

    def read():
        for event in connection.receive_data(link.recv(65536)):
            if isinstance(event, h2.events.RemoteSettingsChanged):
                heard.extend(["limit", c.new_value] for c in event.changed_settings.values() if c.setting == 3)
            elif isinstance(event, h2.events.ResponseReceived):
                heard.append(["status", int(dict(event.headers)[b":status"])])
            elif isinstance(event, h2.events.StreamReset):
                heard.append(["reset", int(event.error_code)]); open_streams.discard(event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                open_streams.discard(event.stream_id)
            elif isinstance(event, h2.events.ConnectionTerminated):
                heard.append(["goaway", int(event.error_code), event.last_stream_id,
                              (event.additional_data or b"").decode()])
                open_streams.difference_update([s for s in open_streams if s > event.last_stream_id])
        link.sendall(connection.data_to_send())

    for burst in bursts:
        open_streams = set()
        # All heads before the first body, so that all streams are open at once.
        for token in burst:
            fields = [(":method", "POST"), (":scheme", "https"), (":authority", "localhost"), (":path", "/3/device/" + token)]
            connection.send_headers(number, fields + list(headers.items()))
            open_streams.add(number)
            number += 2
        for stream in sorted(open_streams):
            connection.send_data(stream, b"{}", end_stream=True)
        link.sendall(connection.data_to_send())
        while open_streams:
            read()
    print(json.dumps(heard))
    """

  private func hear(_ bench: Bench, _ bursts: [[String]], jwt: String) async throws -> JSON {
    try Program.write(bench.directory + "/judge.py", Self.script)
    let port = try #require(bench.simulator.endpoints.apns.split(separator: ":").last)
    let headers: JSON = ["authorization": .string("bearer " + jwt), "apns-topic": .string(bench.bundleID)]
    let all = JSON.array(bursts.map { .array($0.map { .string($0) }) })
    let ending = try await Program.run(
      "/usr/bin/python3", [bench.directory + "/judge.py", bench.directory, String(port), headers.text, all.text],
      in: bench.directory)
    do {
      return try JSON(parsing: ending.output)
    } catch {
      throw Program.NotRun(description: "h2 did not judge: \(ending.output)")
    }
  }

  @Test func `one stream until a valid token, then many, and one again after a rejection`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      let (good, dead) = (apnsToken(1), apnsToken(9))
      try await bench.simulator.control("PUT", "/devices/" + dead, ["state": "uninstalled"])
      let heard = try await hear(bench, [[good], [dead], ["abcd"], [good]], jwt: jwt)
      #expect(
        heard == [
          ["limit", 1], ["limit", 1000], ["status", 200], ["status", 410], ["limit", 1], ["status", 400],
          ["limit", 1000], ["status", 200],
        ])
      // A dead device proves a valid token, too.
      let dying = try await hear(bench, [[dead], ["abcd"], [dead]], jwt: jwt)
      #expect(
        dying == [
          ["limit", 1], ["limit", 1000], ["status", 410], ["limit", 1], ["status", 400], ["limit", 1000],
          ["status", 410],
        ])
      let refused = try await hear(bench, [[good], [good]], jwt: "no.valid.token")
      #expect(refused == [["limit", 1], ["status", 403], ["status", 403]])
    }
  }

  @Test func `what is sent over the limit is refused and never handled`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      let burst = (0..<5).map { apnsToken($0) }
      let heard = try await hear(bench, [burst, burst], jwt: jwt)
      let resets = heard.array?.filter { $0[0] == "reset" } ?? []
      #expect(resets == [["reset", 7], ["reset", 7], ["reset", 7], ["reset", 7]])
      #expect(heard.array?.count { $0 == ["status", 200] } == 6)
      #expect(try await bench.status("inbox", "total") == 6)
    }
  }

  @Test func `a limit that was scripted stays`() async throws {
    try await Bench.with { bench in
      try await bench.simulator.control(
        "POST", "/faults", ["lane": "apns", "times": 1, "action": "streamLimit", "streams": 7])
      let heard = try await hear(
        bench, [[apnsToken(1)], [apnsToken(2)], ["abcd"]], jwt: bench.providerToken())
      #expect(heard == [["limit", 1], ["limit", 7], ["status", 200], ["status", 200], ["status", 400]])
    }
  }

  @Test func `GOAWAY names the last stream that was handled, and earlier ones are still answered`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      try await bench.simulator.control(
        "POST", "/faults",
        [
          "lane": "apns", "after": 2, "action": "goaway", "errorCode": "ENHANCE_YOUR_CALM",
          "debugData": #"{"reason":"IdleTimeout"}"#,
        ])
      let burst = (0..<4).map { apnsToken($0) }
      let heard = try await hear(bench, [[apnsToken(9)], burst], jwt: jwt)
      #expect(heard.array?.filter { $0[0] == "goaway" } == [["goaway", 11, 3, #"{"reason":"IdleTimeout"}"#]])
      #expect(heard.array?.count { $0 == ["status", 200] } == 2)
      #expect(try await bench.status("inbox", "total") == 2)
    }
  }

  @Test func `nghttp is refused what it sends before it has read the limit`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      try Program.write(bench.directory + "/body", "{}")
      let ending = try await Program.run(
        "/usr/bin/nghttp",
        [
          "--verbose", "--null-out", "--timeout", "30", "--multiply", "5", "--data", bench.directory + "/body",
          "--header", "authorization: bearer " + jwt, "--header", "apns-topic: " + bench.bundleID,
          bench.deviceURL(apnsToken(1)),
        ], in: bench.directory)
      // Whether it reads before it sends is its own affair: each stream is answered or refused.
      let (answered, refused) = (ending.output.count(of: ":status: 200"), ending.output.count(of: "REFUSED_STREAM"))
      #expect(answered >= 1 && answered + refused == 5, "\(ending.output)")
      #expect(ending.output.contains("MAX_CONCURRENT_STREAMS(0x03):1]"))
      #expect(ending.output.contains("MAX_CONCURRENT_STREAMS(0x03):1000]"))
      #expect(try await bench.count("apns", "200") == Int64(answered))
    }
  }

  @Test func `nghttp gets an answer for each of many streams on FCM`() async throws {
    try await Bench.with { bench in
      let access = try await bench.accessToken()
      try Program.write(bench.directory + "/body", #"{"message":{"token":"a"}}"#)
      func judge(_ access: String) async throws -> String {
        try await Program.run(
          "/usr/bin/nghttp",
          [
            "--verbose", "--null-out", "--timeout", "30", "--multiply", "80", "--data", bench.directory + "/body",
            "--header", "authorization: Bearer " + access, "--header", "content-type: application/json", bench.sendURL,
          ], in: bench.directory
        ).output
      }
      let right = try await judge(access)
      #expect(right.count(of: ":status: 200") == 80)
      #expect(right.contains("MAX_CONCURRENT_STREAMS(0x03):100]"))
      #expect(try await judge("wrong").count(of: ":status: 401") == 80)
      #expect(try await bench.status("inbox", "total") == 80)
    }
  }
}

extension String {
  func count(of text: String) -> Int { ranges(of: text).count }
}
