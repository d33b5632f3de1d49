import ZonaiCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Everything that the command asks of a store.
typealias Store = TokenStore & JobStore & SchemaStore & SecretStore

/// The option that names the database, and the environment variable that does so in its place.
enum StoreOptions {
  static let store = Option<StoreAddress>(
    "--store", "URL", "the database with your table: \(StoreAddress.forms); the default is in ZONAI_STORE"
  ) { text throws(ArgumentProblem) in try StoreAddress(text) }

  static let variable = "ZONAI_STORE"

  static func add(to options: inout OptionList) { options.add(store) }
}

extension Arguments {
  /// The store that `--store` names, else `ZONAI_STORE`.
  func store() throws(CommandFailure) -> StoreAddress {
    if let address = try value(StoreOptions.store) { return address }
    guard let value = getenv(StoreOptions.variable), value.pointee != 0 else {
      throw .usage("--store URL is missing, and \(StoreOptions.variable) is not set")
    }
    guard let text = String(validatingCString: value) else {
      throw .usage("\(StoreOptions.variable) is not UTF-8 text; write other bytes of the URL as %-codes")
    }
    do throws(ArgumentProblem) {
      var address = try StoreAddress(text)
      address.isFromEnvironment = true
      return address
    } catch {
      throw .usage("\(StoreOptions.variable) \(error.clause)")
    }
  }
}
