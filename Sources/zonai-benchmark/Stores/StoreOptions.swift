/// zonai-benchmark fill|push|store|worker|locks --database sqlite|postgres|mysql --at URL-OR-FILE [--rows N] [--by store|hand]
///   [--latency MS] [--job ID]
struct StoreOptions {
  enum Kind: String {
    /// Makes Zonai's tables and the application's, anew when it has another number of rows.
    case fill
    /// Enqueues a job for workers to share, and prints its id.
    case push
    /// Pages and settles by the store's calls or by hand, in one process and without an engine.
    case store
    /// Works on one job with the scripted lane.
    case worker
    /// Counts who waits for a lock, until its standard input ends.
    case locks
  }
  enum Database: String { case sqlite, postgres, mysql }
  enum Hand: String { case store, hand }

  var kind: Kind
  var database = Database.sqlite
  var place = ""
  var rows = 100_000
  var by = Hand.store
  var batch = 500
  /// How long the scripted lane takes over one send of a batch, in milliseconds.
  var latency: Int64 = 0
  /// The job to work on; without one, a worker makes its own.
  var job: String?

  init(_ kind: Kind, _ arguments: some Sequence<String>) throws {
    self.kind = kind
    var arguments = arguments.makeIterator()
    while let name = arguments.next() {
      guard let value = arguments.next() else { throw Options.Mistake(description: "\(name) wants a value") }
      func number() throws -> Int {
        guard let number = Int(value), number >= 0 else {
          throw Options.Mistake(description: "\(name) wants a number, not '\(value)'")
        }
        return number
      }
      switch name {
      case "--database":
        guard let database = Database(rawValue: value) else {
          throw Options.Mistake(description: "--database is sqlite, postgres or mysql")
        }
        self.database = database
      case "--at": place = value
      case "--rows": rows = try number()
      case "--by":
        guard let by = Hand(rawValue: value) else { throw Options.Mistake(description: "--by is store or hand") }
        self.by = by
      case "--batch": batch = max(1, try number())
      case "--latency": latency = Int64(try number())
      case "--job": job = value
      default: throw Options.Mistake(description: "\(name) is no option")
      }
    }
    guard !place.isEmpty else { throw Options.Mistake(description: "--at says where the database is") }
  }
}
