import ZonaiCore
import ZonaiSQLite

/// Everything that the command asks of a store.
typealias Store = TokenStore & JobStore & SchemaStore & SecretStore

/// The option that names the database.
enum StoreOptions {
  static let store = Option<StoreAddress>("--store", "URL", "the database with your table: sqlite:FILE") {
    text throws(ArgumentProblem) in try StoreAddress(text)
  }

  static func add(to options: inout OptionList) { options.add(store) }
}

/// A store's URL, of a kind that is known.
struct StoreAddress: Sendable {
  /// As it was given, for the commands that are suggested.
  let text: String

  private static let known = ["sqlite"]

  init(_ text: String) throws(ArgumentProblem) {
    let forms = "sqlite:FILE, for example sqlite:app.db"
    guard let colon = text.firstIndex(of: ":") else {
      throw ArgumentProblem("wants a URL, not '\(text)'; write \(forms)")
    }
    let scheme = text[..<colon].lowercased()
    // The rest of a URL that is not understood may hold a password.
    guard StoreAddress.known.contains(scheme) else {
      throw ArgumentProblem("names a store of the kind '\(scheme)', which is not known; known is \(forms)")
    }
    self.text = text
  }

  func open() throws(StoreError) -> any Store { try SQLiteStore(url: text) }
}
