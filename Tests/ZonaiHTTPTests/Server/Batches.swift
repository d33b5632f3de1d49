import ZonaiHTTP

extension HTTP2Batch {
  /// Requests as APNs has them: the token in the path, the same body for all.
  static func tokens(_ numbers: Range<Int>, permit: HTTP2Permit = HTTP2Permit(), body: String = "{}") -> HTTP2Batch {
    var values = ByteColumn()
    for number in numbers { values.append("token-\(number)".utf8) }
    return HTTP2Batch(
      path: ByteTemplate(segments: [Array("/3/device/".utf8), []]),
      fields: [HTTPField("authorization", "bearer secret")],
      body: ByteTemplate(body.utf8), values: values, permit: permit)
  }
}

extension HTTP2Options {
  /// Trusts the test's authority; few retries, short waits.
  static func test(_ server: TestServer, _ change: (inout HTTP2Options) -> Void = { _ in }) -> HTTP2Options {
    var options = HTTP2Options()
    options.caFile = server.files.authority
    options.maxConnections = 1
    change(&options)
    return options
  }
}
