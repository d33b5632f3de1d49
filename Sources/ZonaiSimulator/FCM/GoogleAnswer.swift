import ZonaiHTTP
import ZonaiJSON

/// Answers in Google's form.
enum GoogleAnswer {
  static func json(
    _ status: Int, _ body: JSON, label: String, headers: [ServerHeader] = [], delivers: Bool = false,
    at clock: SimulatorClock
  ) -> Reply {
    let fields = [
      ServerHeader("content-type", "application/json; charset=UTF-8"),
      ServerHeader("date", HTTPDate.text(clock.seconds)),
    ]
    return Reply(
      response: ServerResponse(status: status, headers: fields + headers, body: body.bytes), label: label,
      delivers: delivers)
  }

  /// A page of the front end, for addresses that do not exist.
  static func page(_ status: Int, at clock: SimulatorClock) -> Reply {
    let body = """
      <!DOCTYPE html>
      <html lang=en>
        <title>Error \(status) (Not Found)!!1</title>
        <p><b>\(status).</b> That's an error.
        <p>The requested URL was not found on this server. That's all we know.

      """
    let fields = [
      ServerHeader("content-type", "text/html; charset=UTF-8"), ServerHeader("date", HTTPDate.text(clock.seconds)),
    ]
    return Reply(
      response: ServerResponse(status: status, headers: fields, body: Array(body.utf8)), label: "\(status) page")
  }
}

/// The time in the form of HTTP's header fields: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  static func text(_ seconds: Int64) -> String {
    let seconds = max(0, seconds)
    let (day, rest) = (Int(seconds / 86_400), Int(seconds % 86_400))
    // The civil calendar from a count of days: https://howardhinnant.github.io/date_algorithms.html#civil_from_days
    let shifted = day + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let dayOfMonth = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let time = [rest / 3600, rest / 60 % 60, rest % 60].map(twoDigits).joined(separator: ":")
    return "\(days[day % 7]), \(twoDigits(dayOfMonth)) \(months[month - 1]) \(year) \(time) GMT"
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
