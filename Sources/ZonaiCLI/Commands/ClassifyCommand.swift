import ZonaiCore
import ZonaiThreads
import ZonaiTransports

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `zonai classify`: what an answer of FCM or APNs means for the row and for the job.
struct ClassifyCommand: Command {
  enum Service: String, CaseIterable { case fcm, apns }

  static let name = "classify"
  static let summary = "tell what an answer of FCM or APNs means for the row and for the job"
  static let usage = "fcm|apns --status N [--header 'name: value']… [--last-seen MS] [--json]  <BODY"

  private static let status = Option<Int>("--status", "N", "the answer's HTTP status", in: 100...599)
  private static let header = Option(
    "--header", "'NAME: VALUE'", "a header field of the answer: retry-after, date and apns-id are read",
    isRepeated: true
  )
  private static let lastSeen = Option<Int>(
    "--last-seen", "MS", "when the row's token was registered, in milliseconds since 1970", in: 0...Int.max)

  static let options: OptionList = {
    var list = OptionList()
    list.add(status)
    list.add(header)
    list.add(lastSeen)
    list.add(Shared.json)
    list.add(Shared.help)
    return list
  }()

  static let notes = """
    The answer's body comes on standard input; nothing is sent anywhere. For evidence that needs a witness it tells the verdict
    beside a delivery in the same group, and what it is without one.

      echo '{"reason":"Unregistered","timestamp":1767225600000}' | zonai classify apns --status 410
      zonai classify apns --status 410 --header 'apns-id: 1' </dev/null
    """

  private let service: Service
  private let status: Int
  private let headers: [String: String]
  private let lastSeen: Int64?

  init(_ arguments: Arguments) throws(CommandFailure) {
    let word = try arguments.operands(named: ["fcm or apns"])[0]
    guard let service = Service(rawValue: word.lowercased()) else {
      throw .usage("'\(word)' is no service that is known: say fcm or apns")
    }
    self.service = service
    status = try arguments.required(Self.status)
    lastSeen = try arguments.value(Self.lastSeen).map { Int64($0) }
    var headers: [String: String] = [:]
    for field in try arguments.values(Self.header) {
      guard let colon = field.firstIndex(of: ":"), colon != field.startIndex else {
        throw .usage("--header wants 'name: value', not '\(field)'")
      }
      let value = field[field.index(after: colon)...].drop { $0 == " " }
      headers[field[..<colon].lowercased()] = String(value)
    }
    self.headers = headers
  }

  func run(_ context: Context) async throws -> ExitCode {
    if isatty(0) == 1 { context.console.note("paste the answer's body, then press ^D") }
    let body = try await StandardInput.read()
    let answer = AnswerInHand(status: status, headers: headers, body: body)
    var verdict = service == .fcm ? answer.fcmVerdict : answer.apnsVerdict
    if service == .apns, body.isEmpty, verdict.faultWhenRepeated != nil {
      context.console.note(
        "an empty body is Apple's only beside the header apns-id; add --header 'apns-id: …' if it was there")
    }
    if let lastSeen { verdict = verdict.consideringLastSeen(lastSeen) }
    let account = VerdictAccount(verdict: verdict)
    if context.console.isJSON { context.console.result(account.json) } else { context.console.result(account.text) }
    return .done
  }
}
