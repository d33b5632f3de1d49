import Testing

@testable import ZonaiCLI

/// Which stores are known by their names, and that no password is ever shown.
@Suite struct StoreAddressTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let given: String
    let shown: String
    var testDescription: String { shown }

    init(_ given: String, _ shown: String? = nil) {
      self.given = given
      self.shown = shown ?? given
    }
  }

  @Test(arguments: [
    Case("sqlite:app.db"), Case("sqlite:a?password=b.db"), Case("SQLITE:/var/app.db"),
    Case("postgres://zonai@db.internal/shop"), Case("postgresql:///shop?host=/run/postgresql"),
    Case(
      "postgres://zonai:secret@db.internal:5433/shop?sslmode=require",
      "postgres://zonai@db.internal:5433/shop?sslmode=require"),
    Case("postgres://zonai:secret@one,two/shop", "postgres://zonai@one,two/shop"),
    Case("postgres://:secret@db/shop", "postgres://@db/shop"),
    Case("postgres://zonai:se/cr@et:x@db/shop", "postgres://zonai@db/shop"),
    Case("postgres://zonai:%73ecret@db/shop", "postgres://zonai@db/shop"),
    Case("postgres://db/shop?user=zonai&password=secret", "postgres://db/shop?user=zonai"),
    Case("postgres://db/shop?password=secret", "postgres://db/shop"),
    Case(
      "postgres://db/shop?p%61ssword=secret&sslpassword=other&sslmode=require", "postgres://db/shop?sslmode=require"),
    Case("postgres://db/shop?application_name=me@host"), Case("postgres://db:5433,other:5434/shop?options=a:b@c&x=d@e"),
    Case("postgres://zonai@db/shop?application_name=me@host"), Case("postgres:///shop?application_name=a:b@c"),
    Case("mysql://db/shop?option-file=/home/me@work/my.cnf"), Case("sqlite:///srv/a:b@c/app.db"),
    Case(
      "postgres://zonai:secret@db/shop?application_name=me@host", "postgres://zonai@db/shop?application_name=me@host"),
    Case("postgres://zonai:se?cret@db/shop", "postgres://zonai@db/shop"),
    Case("postgres://zonai:se?a=cret@db/shop", "postgres://zonai@db/shop"),
    Case("postgres://zonai:5?a=cret@db/shop", "postgres://zonai@db/shop"),
    Case("postgres://zonai:se/cr?et@db/shop", "postgres://zonai@db/shop"),
    Case("postgres://zonai:se/cr?a=cret@db/shop", "postgres://zonai@db/shop"),
    Case("postgres://zonai:5/cret@db/shop?a=b@c", "postgres://zonai@db/shop?a=b@c"),
    Case("postgres://db/shop?password=cret@x&a=b@c", "postgres://db/shop?a=b@c"),
    Case("mysql://zonai@db/shop"), Case("mariadb://zonai:secret@db/shop", "mariadb://zonai@db/shop"),
    Case("mysql://zonai:@db/shop", "mysql://zonai@db/shop"),
    Case("host=db dbname=shop user=zonai"), Case("  port = 5433   dbname = shop"),
    Case("host=db password=secret dbname=shop", "host=db dbname=shop"),
    Case("password='it\\'s secret' host=db", "host=db"),
    Case("dbname=shop password='a b=c' user=zonai", "dbname=shop user=zonai"),
    Case("dbname=shop password = secret", "dbname=shop"),
    Case("service=shop sslpassword=secret", "service=shop"),
  ])
  func `a store's name is known, and shown without its password`(_ one: Case) throws {
    let address = try StoreAddress(one.given)
    #expect(address.shown == one.shown)
    #expect(address.hasPassword == (one.given != one.shown))
    #expect(!address.repeated.joined(separator: " ").contains("cret"))
  }

  @Test(arguments: [
    "app.db", "", ":", "oracle://root:secret@db", "https://root:secret@db", "pass=secret", "sslmode", "/a=b", "=",
    "secret@db:shop=x",
  ])
  func `what is no store is refused, and no password said`(_ text: String) {
    do {
      _ = try StoreAddress(text)
      Issue.record("\(text) was taken for a store")
    } catch {
      #expect(!error.clause.contains("secret"))
      #expect(error.clause.contains("sqlite:FILE"))
    }
  }
}
