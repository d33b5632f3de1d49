import Testing

@testable import ZonaiCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `docs/dead-tokens.md` shows the tables as the code holds them. With `ZONAI_WRITE_DOCS=1` the test writes them instead.
struct VerdictDocumentTests {
  static let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/dead-tokens.md")

  static let tables = [
    ("fcm", render(FCMVerdicts.rows)), ("apns-error", render(FCMVerdicts.apnsErrorRows)),
    ("apns", render(APNsVerdicts.rows)), ("oauth", render(OAuthVerdicts.rows)), ("connection", connections),
  ]

  @Test func `the tables of the page are those of the code`() throws {
    var page = try String(contentsOf: Self.path, encoding: .utf8)
    for (name, table) in Self.tables {
      let start = "<!-- table: \(name) -->\n"
      let parts = page.components(separatedBy: start)
      try #require(parts.count == 2, "the page has one place for the table \(name)")
      let rest = parts[1].components(separatedBy: "<!-- end -->")
      if ProcessInfo.processInfo.environment["ZONAI_WRITE_DOCS"] == "1" {
        page = parts[0] + start + table + "<!-- end -->" + rest.dropFirst().joined(separator: "<!-- end -->")
      } else {
        #expect(rest[0] == table, "the table \(name) differs: run the tests once with ZONAI_WRITE_DOCS=1")
      }
    }
    if ProcessInfo.processInfo.environment["ZONAI_WRITE_DOCS"] == "1" {
      try page.write(to: Self.path, atomically: true, encoding: .utf8)
    }
  }

  private static func render<Answer>(_ rows: [VerdictRow<Answer>]) -> String {
    var text = "| answer | it is about | the row | the job | again | look at | source | where we do less |\n"
    text += "|---|---|---|---|---|---|---|---|\n"
    for row in rows {
      let cells = [
        row.answer, about(row.verdict), forRow(row.verdict), row.verdict.outcome == .jobFails ? "fails" : "goes on",
        again(row.verdict), row.verdict.names.map { "`\($0)`" } ?? "", row.source, row.narrower ?? "",
      ]
      text += "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |\n"
    }
    return text
  }

  private static var connections: String {
    var text =
      "| what happened | it is about | the row | the job | again | may have been handled |\n|---|---|---|---|---|---|\n"
    for failure in ConnectionFailure.allCases {
      let verdict = ConnectionVerdicts.verdict(for: failure, on: .fcm)
      let job = verdict.outcome == .jobFails ? "fails" : "goes on, or waits"
      text += "| \(failure.rawValue) | \(about(verdict)) | kept | \(job) | \(again(verdict)) | "
      text += "\(verdict.answerMayBeLost ? "yes" : "no") |\n"
    }
    return text
  }

  private static func about(_ verdict: Verdict) -> String {
    switch verdict.fault {
    case nil: "nothing: delivered"
    case .recipient: verdict.outcome == .permanentlyRejected ? "recipient, dead" : "recipient, now"
    case .configuration: verdict.outcome == .jobFails ? "configuration, of the lane" : "configuration, of some"
    case .some(let fault): fault.rawValue
    }
  }

  private static func forRow(_ verdict: Verdict) -> String {
    switch verdict.evidence {
    case .conclusive: "hook, then policy"
    case .tokenNamed: "with a witness hook and policy (token named)"
    case .namesNothing: "with a witness hook and policy (names nothing)"
    case .aboutLane: "with a witness hook and policy (about the lane)"
    case nil: "kept"
    }
  }

  private static func again(_ verdict: Verdict) -> String {
    switch verdict.retry {
    case .never: ""
    case .once: "once"
    case .attempts: verdict.slowsLane ? "attempts; slows the lane" : "attempts"
    case .free: "free while the lane answers"
    }
  }
}
