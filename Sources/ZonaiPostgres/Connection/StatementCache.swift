/// The names of the statements that a connection has prepared: the one used longest ago goes first.
struct StatementCache {
  private var names: [String: (name: String, lastUse: Int)] = [:]
  private var uses = 0
  private var made = 0

  /// Some forty statements are in use while one job runs; each costs the server memory.
  static let capacity = 96

  mutating func name(of text: String) -> String? {
    guard let known = names[text] else { return nil }
    uses += 1
    names[text] = (known.name, uses)
    return known.name
  }

  mutating func nextName() -> String {
    made += 1
    return "zonai_\(made)"
  }

  /// Notes a statement that was prepared; gives the name of one that has to go for it.
  mutating func keep(_ text: String, as name: String) -> String? {
    uses += 1
    names[text] = (name, uses)
    guard names.count > StatementCache.capacity,
      let oldest = names.min(by: { $0.value.lastUse < $1.value.lastUse })
    else { return nil }
    names[oldest.key] = nil
    return oldest.value.name
  }

  /// The server does not know them any more, or not in this form.
  mutating func forgetAll() { names = [:] }
}
