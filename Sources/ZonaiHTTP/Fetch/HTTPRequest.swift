/// A single request, for what happens now and then: a token exchange, a question to a control interface.
public struct HTTPRequest: Sendable {
  public var method: String
  /// https, or plain http on this machine's loopback.
  public var url: String
  public var fields: [HTTPField]
  public var body: [UInt8]?
  /// The limit for everything, in milliseconds. The default is 30 s.
  public var timeout: Int64 = 30_000
  /// The limit for name look-up, TCP, proxy and TLS, in milliseconds. The default is 10 s.
  public var connectTimeout: Int64 = 10_000
  /// A longer body of the answer is an error. The default is 1 MiB.
  public var maxAnswerBytes = 1 << 20
  /// A PEM file of authorities to trust besides the system's directory of certificates.
  public var caFile: String?

  public init(_ method: String, _ url: String, fields: [HTTPField] = [], body: [UInt8]? = nil, caFile: String? = nil) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
    self.caFile = caFile
  }

  /// Sends it on a thread of its own and gives the answer, whatever its status; redirects are not followed.
  ///
  /// Cancelling the task ends it within a second.
  public func fetch() async throws(HTTPFailure) -> HTTPResponse {
    let exchange = Exchange(self)
    let result = await withTaskCancellationHandler {
      await exchange.result()
    } onCancel: {
      exchange.cancel()
    }
    return try result.get()
  }
}

/// What a server answered.
public struct HTTPResponse: Sendable {
  public let status: Int
  /// In the order in which they came; names in lower case.
  public let fields: [HTTPField]
  public let body: [UInt8]

  /// The first field of this name, which is given in lower case.
  public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
}
