import Testing
import ZonaiJSON

/// What curl, unmodified, heard.
struct Heard {
  var status: Int
  /// The protocol as curl names it: "1.1", "2".
  var version: String
  var headers: [String: String]
  var body: String
  /// curl's own exit code; 0 when there was an answer.
  var exit: Int32

  var json: JSON? { try? JSON(parsing: body) }
  var reason: String? { json?["reason"]?.string }
}

extension Bench {
  /// Asks with curl, over HTTP/2 unless said otherwise, trusting the simulator's authority and nobody else.
  func curl(
    _ url: String, method: String = "POST", headers: [String: String] = [:], body: String? = nil,
    options: [String] = ["--http2"]
  ) async throws -> Heard {
    // The body goes by a file: arguments have a limit.
    let number = UInt64.random(in: 0...UInt64.max)
    let (bodyFile, answerFile) = ("\(directory)/body.\(number)", "\(directory)/answer.\(number)")
    var arguments = ["--silent", "--show-error", "--max-time", "60"] + options
    if !options.contains("--cacert") { arguments += ["--cacert", directory + "/ca.pem"] }
    arguments += ["--request", method, "--dump-header", "-", "--output", answerFile]
    arguments += ["--write-out", "%{http_version}\n", url, "--header", "Expect:"]
    for (name, value) in headers { arguments += ["--header", value.isEmpty ? "\(name);" : "\(name): \(value)"] }
    if let body {
      try Program.write(bodyFile, body)
      arguments += ["--data-binary", "@" + bodyFile]
    }
    let ending = try await Program.run("/usr/bin/curl", arguments, in: directory)
    let answer = (try? Program.read(answerFile)) ?? ""
    Bench.removeTree(bodyFile)
    Bench.removeTree(answerFile)
    return Heard(ending, body: answer)
  }

  /// A push to APNs that is right in everything that is not changed; a nil header is left out.
  func push(
    _ token: String, headers: [String: String?] = [:], body: String = #"{"aps":{"alert":"hello"}}"#, jwt: String,
    options: [String] = ["--http2"]
  ) async throws -> Heard {
    let usual: [String: String?] = [
      "authorization": "bearer " + jwt, "apns-topic": bundleID, "apns-push-type": "alert",
    ]
    return try await curl(
      deviceURL(token), headers: usual.merging(headers) { $1 }.compactMapValues { $0 }, body: body, options: options)
  }

  /// A send to FCM.
  func send(
    _ body: String, accessToken: String, headers: [String: String] = [:], url: String? = nil,
    options: [String] = ["--http2"]
  ) async throws -> Heard {
    let usual = [
      "authorization": "Bearer " + accessToken, "content-type": "application/json", "x-goog-api-format-version": "2",
    ]
    return try await curl(url ?? sendURL, headers: usual.merging(headers) { $1 }, body: body, options: options)
  }

  func exchange(_ assertion: String, grant: String = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer")
    async throws -> Heard
  {
    try await curl(
      simulator.endpoints.oauth + "/token", headers: ["content-type": "application/x-www-form-urlencoded"],
      body: "grant_type=\(grant)&assertion=\(assertion)")
  }

  func accessToken() async throws -> String {
    try #require(try await exchange(assertion()).json?["access_token"]?.string)
  }
}

extension Heard {
  init(_ ending: Program.Ending, body: String) {
    self.body = body
    exit = ending.status
    var lines = ending.output.utf8.split(separator: 0x0A).map { line in
      String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
    }
    version = lines.popLast() ?? ""
    status = 0
    headers = [:]
    for line in lines {
      if line.hasPrefix("HTTP/") {
        status = line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        headers = [:]
      } else if let colon = line.firstIndex(of: ":") {
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        headers[line[..<colon].lowercased()] = String(value)
      }
    }
  }
}
