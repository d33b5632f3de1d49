/// One run's figures, as one line of JSON, so that a script can put runs beside each other.
struct Report {
  let options: Options
  var delivered = 0
  var otherwise = 0
  var milliseconds: Int64 = 0
  var microsecondsPerRecipient = 0.0
  var peakKilobytes = 0
  var state = ""

  init(_ options: Options) { self.options = options }

  mutating func measure(since before: Usage, recipients: Int) {
    let after = Usage.now()
    microsecondsPerRecipient = (after.cpuMicroseconds - before.cpuMicroseconds) / Double(recipients)
    peakKilobytes = after.peakKilobytes
  }

  var line: String {
    let rate = milliseconds == 0 ? 0 : Int64(delivered + otherwise) * 1000 / milliseconds
    let cpu = (microsecondsPerRecipient * 100).rounded() / 100
    return """
      {"measured":"\(options.kind.rawValue)","lane":"\(options.lane.rawValue)","recipients":\(options.recipients),\
      "delivered":\(delivered),"otherwise":\(otherwise),"state":"\(state)","perSecond":\(rate),\
      "cpuMicroseconds":\(cpu),"peakKilobytes":\(peakKilobytes)}
      """
  }
}
