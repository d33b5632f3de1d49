import Testing

@testable import ZonaiCore

struct RetryAfterTests {
  static let noon: Int64 = 784_111_777_000

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", noon), ("Sunday, 06-Nov-94 08:49:37 GMT", noon),
    ("Sun Nov  6 08:49:37 1994", noon), ("sun, 06 nov 1994 08:49:37 gmt", noon),
    (" Sun Nov 16 08:49:37 1994 ", noon + 864_000_000),
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800_000),
    ("Friday, 31-Dec-69 23:59:59 GMT", 3_155_759_999_000), ("Thursday, 01-Jan-70 00:00:00 GMT", 0),
    ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800_000),
  ])
  func `the three forms of a date are read`(text: String, expected: Int64) {
    #expect(HTTPDate.milliseconds(text) == expected)
  }

  @Test(arguments: [
    "", "now", "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
    "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT+1", "Thu, 29 Feb 2023 00:00:00 GMT", "Sun Nov  6 08:49:37 1994 GMT", "Sun, é",
  ])
  func `nothing else is a date`(text: String) { #expect(HTTPDate.milliseconds(text) == nil) }

  @Test(
    arguments: [
      ("0", 0), ("120", 120_000), (" 7 ", 7000), ("007", 7000), ("99999999999999999999999", RetryAfter.longest),
      ("31536000", RetryAfter.longest), ("3600", 3_600_000), ("3601", RetryAfter.longest),
      ("9223372036854775808", RetryAfter.longest), ("1.5", 2000), ("1.0", 1000), ("0.001", 1000), ("3600.5", 3_600_000),
      ("-1", nil), ("-99999999999", nil), ("1.", nil), (".5", nil), ("1.5.2", nil), ("1e3", nil), ("NaN", nil),
      ("5 s", nil), ("", nil), ("soon", nil), ("Sun, 06 Nov 1994 08:49:37 GMT", nil),
    ] as [(String, Int64?)])
  func `seconds are read, and a date not without the answer's own`(text: String, expected: Int64?) {
    #expect(RetryAfter.milliseconds(text, date: nil) == expected)
  }

  @Test func `a date counts from the answer's date and never backwards`() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(RetryAfter.milliseconds("Sun, 06 Nov 1994 08:50:07 GMT", date: date) == 30_000)
    #expect(RetryAfter.milliseconds("Sun, 06 Nov 1994 08:40:00 GMT", date: date) == 0)
    #expect(RetryAfter.milliseconds("Thu, 01 Jan 1970 00:00:00 GMT", date: date) == 0)
    #expect(RetryAfter.milliseconds("Mon, 06 Nov 1995 08:49:37 GMT", date: date) == 3_600_000)
    #expect(RetryAfter.milliseconds("Mon, 06 Nov 2094 08:40:00 GMT", date: date) == RetryAfter.longest)
    #expect(RetryAfter.milliseconds("Sun, 06 Nov 1994 08:50:07 GMT", date: "yesterday") == nil)
    #expect(RetryAfter.milliseconds(nil, date: date) == nil)
  }
}
