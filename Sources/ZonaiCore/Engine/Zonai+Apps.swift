/// The apps of this database, and what they are bound to.
extension Zonai {
  /// Every app that is bound, or named by an open job or a live worker.
  public func apps() async throws(StoreError) -> [AppAccount] { try await store.apps() }

  /// Binds this process's app to the transports of this process, whatever it was bound to.
  ///
  /// Its open jobs that need a transport whose project, team, environment or host changes are
  /// failed, and workers that run with the old configuration end. Throws `notFound` for an app that
  /// is not bound yet: its first use binds it.
  @discardableResult
  public func rebind() async throws(StoreError) -> Rebinding {
    try await store.rebind(BindRequest(app: app, lanes: lanes))
  }
}
