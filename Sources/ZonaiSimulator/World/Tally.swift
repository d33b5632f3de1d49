import ZonaiJSON

/// How often each lane answered what.
struct Tally {
  private struct Count {
    var requests = 0
    var connections = 0
    var answers: [String: Int] = [:]
  }

  private var counts: [Lane: Count] = [:]
  /// Connections that are open now.
  private var open: [Lane: Int] = [:]

  mutating func connected(_ lane: Lane) { counts[lane, default: Count()].connections += 1 }

  mutating func changeOpen(_ lane: Lane, by change: Int) { open[lane, default: 0] += change }

  mutating func answered(_ lane: Lane, _ label: String) {
    counts[lane, default: Count()].requests += 1
    counts[lane, default: Count()].answers[label, default: 0] += 1
  }

  mutating func clear() { counts = [:] }

  var json: JSON {
    .object(
      Dictionary(
        uniqueKeysWithValues: Lane.allCases.map { lane in
          let count = counts[lane] ?? Count()
          return (
            lane.rawValue,
            [
              "requests": .integer(Int64(count.requests)), "connections": .integer(Int64(count.connections)),
              "open": .integer(Int64(open[lane] ?? 0)),
              "answers": .object(count.answers.mapValues { .integer(Int64($0)) }),
            ]
          )
        }))
  }
}
