import ZonaiCore
import ZonaiJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A job's definition as its row keeps it: the predicate by itself, since it may hold a hundred thousand values, and the
/// rest by the core's own coding. Equal definitions give equal text.
struct StoredDefinition: Hashable {
  var definition: String
  var predicate: String?

  init(definition: String, predicate: String?) {
    self.definition = definition
    self.predicate = predicate
  }

  init(_ definition: JobDefinition) throws(StoreError) {
    var rest = definition
    rest.audience.predicate = nil
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      self.definition = String(decoding: try encoder.encode(rest), as: UTF8.self)
    } catch {
      throw StoreError(.invalidRequest, "the job cannot be written down: \(error)")
    }
    predicate = definition.audience.predicate?.stored
  }

  func decoded() throws(StoreError) -> JobDefinition {
    var result: JobDefinition
    do {
      result = try JSONDecoder().decode(JobDefinition.self, from: Data(definition.utf8))
    } catch {
      throw .unreadable(JobDefinition.self, "\(error)")
    }
    if let predicate { result.audience.predicate = try Predicate(stored: predicate) }
    return result
  }
}
