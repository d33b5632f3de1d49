import ZonaiCore
import ZonaiJSON

extension Predicate: StoredAsJSON {
  var json: JSON {
    switch self {
    case .compare(let column, let comparison, let value):
      [.string(comparison.rawValue), .string(column), value.json]
    case .isIn(let column, let values): ["in", .string(column), .array(values.map(\.json))]
    case .like(let column, let pattern): ["like", .string(column), .string(pattern)]
    case .isNull(let column): ["null", .string(column)]
    case .and(let parts): .array(["and"] + parts.map(\.json))
    case .or(let parts): .array(["or"] + parts.map(\.json))
    case .not(let part): ["not", part.json]
    }
  }

  init(json: JSON) throws(StoreError) {
    guard let elements = json.array, let verb = elements.first?.string else {
      throw .unreadable(Predicate.self, "it is no list that begins with a word")
    }
    func parts() throws(StoreError) -> [Predicate] {
      var parts: [Predicate] = []
      for element in elements.dropFirst() { parts.append(try Predicate(json: element)) }
      return parts
    }
    switch (verb, json[1]?.string, json[2]) {
    case ("and", _, _): self = .and(try parts())
    case ("or", _, _): self = .or(try parts())
    case ("not", _, _):
      guard let part = try parts().first else { throw .unreadable(Predicate.self, "not has no part") }
      self = .not(part)
    case ("null", let column?, _): self = .isNull(column)
    case ("like", let column?, .string(let pattern)?): self = .like(column, pattern)
    case ("in", let column?, .array(let list)?):
      var values: [Value] = []
      values.reserveCapacity(list.count)
      for value in list { values.append(try Value(json: value)) }
      self = .isIn(column, values)
    case (_, let column?, let value?):
      guard let comparison = Comparison(rawValue: verb) else {
        throw .unreadable(Predicate.self, "nobody knows \(verb)")
      }
      self = .compare(column, comparison, try Value(json: value))
    default: throw .unreadable(Predicate.self, "\(verb) is not complete")
    }
  }
}
