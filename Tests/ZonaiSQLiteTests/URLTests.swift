import Testing
import ZonaiCore
import ZonaiSQLite

@Suite struct URLTests {
  @Test(arguments: [
    ("sqlite:app.db", "app.db"), ("sqlite:/srv/app.db", "/srv/app.db"), ("sqlite:///srv/app.db", "/srv/app.db"),
    ("sqlite://app.db", "app.db"), ("sqlite:./a/../app.db", "./a/../app.db"), ("SQLITE:app.db", "app.db"),
    ("sqlite:with%20blank.db", "with blank.db"), ("sqlite:with blank.db", "with blank.db"),
    ("sqlite:100%25.db", "100%.db"), ("sqlite:a%3Fb%23c", "a?b#c"), ("sqlite:d%C3%A9p%C3%B4t.db", "dépôt.db"),
    ("sqlite:C:app.db", "C:app.db"),
  ])
  func `a URL names a file`(_ url: String, _ path: String) throws {
    #expect(try SQLiteURL.path(url) == path)
  }

  @Test(arguments: [
    ("app.db", "sqlite:FILE"), ("postgres://localhost/app", "is no SQLite store"), ("sqlite:", "names no file"),
    ("sqlite://", "names no file"), ("sqlite:a.db?mode=ro", "%3F"), ("sqlite:a#b", "%23"), ("sqlite:a%2", "%25"),
    ("sqlite:a%zz", "%25"), ("sqlite:a%00b", "zero byte"), ("sqlite:%ff", "UTF-8"), ("", "sqlite:FILE"),
  ])
  func `a URL that names none says what to write`(_ url: String, _ help: String) {
    let error = #expect(throws: StoreError.self) { try SQLiteStore(url: url) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.sentence.contains(help) == true, "\(error?.sentence ?? "")")
  }
}
