import Testing
import ZonaiCore
import ZonaiMySQL

@Suite struct URLTests {
  struct Good: Sendable, CustomTestStringConvertible {
    let url: String
    let expected: MySQLAddress
    var testDescription: String { url }

    init(_ url: String, _ set: (inout MySQLAddress) -> Void) {
      self.url = url
      var address = MySQLAddress()
      set(&address)
      expected = address
    }
  }

  static let good = [
    Good("mysql://anna:secret@db.internal:3307/shop") {
      ($0.user, $0.password, $0.host, $0.port, $0.database) = ("anna", "secret", "db.internal", 3307, "shop")
    },
    Good("mariadb://db/shop") { ($0.host, $0.database) = ("db", "shop") },
    Good("MySQL://anna@db/shop") { ($0.user, $0.host, $0.database) = ("anna", "db", "shop") },
    Good("mysql://an%40na:p%3A%2f%23%25%C3%A9@db/a%2Fb") {
      ($0.user, $0.password, $0.host, $0.database) = ("an@na", "p:/#%é", "db", "a/b")
    },
    Good("mysql://anna:a:b@c@db/shop") {
      ($0.user, $0.password, $0.host, $0.database) = ("anna", "a:b@c", "db", "shop")
    },
    Good("mysql://[::1]:3306/shop") { ($0.host, $0.port, $0.database) = ("::1", 3306, "shop") },
    Good("mysql:///shop") { $0.database = "shop" },
    Good("mysql:///shop?socket=/run/my%20sql/sock") { ($0.database, $0.socket) = ("shop", "/run/my sql/sock") },
    Good("mysql://localhost/shop?socket=/s") { ($0.host, $0.database, $0.socket) = ("localhost", "shop", "/s") },
    Good("mysql://db?option-file=/etc/zonai.cnf") { ($0.host, $0.optionFile) = ("db", "/etc/zonai.cnf") },
    Good("mysql://db/shop?ssl-mode=VERIFY-IDENTITY&ssl-ca=/ca&ssl-cert=/c&ssl-key=/k") {
      ($0.host, $0.database, $0.tls) = ("db", "shop", .verifyIdentity)
      ($0.authorities, $0.certificate, $0.key) = ("/ca", "/c", "/k")
    },
  ]

  @Test(arguments: good)
  func `a URL names a database`(_ good: Good) throws {
    #expect(try MySQLURL.address(good.url) == good.expected)
    #expect(!"\(good.expected)".contains("secret"))
    #expect(!String(reflecting: good.expected).contains("secret"))
  }

  static let bad = [
    ("sqlite:app.db", "begin with mysql://"), ("mysql:app", "begin with mysql://"),
    ("mysql://anna:hush@db:99999/shop", "port"), ("mysql://anna:hush@db:x/shop", "percent-encoding"),
    ("mysql://anna:hu/sh@db/shop", "port"), ("mysql://anna:hush@db/shop/more", "%2F"),
    ("mysql://anna:hush@db/shop#x", "%23"), ("mysql://anna:%zz@db/shop", "hexadecimal"),
    ("mysql://anna:%00hush@db/shop", "zero byte"), ("mysql://anna:%ffhush@db/shop", "UTF-8"),
    ("mysql://anna:hush@db/shop?tls=1", "ssl-mode"), ("mysql://anna:hush@db/shop?ssl-mode=yes", "verify-identity"),
    ("mysql://anna:hush@db/shop?socket", "name=value"), ("mysql://anna:hush@db/shop?socket=/s", "leave the host out"),
    ("mysql://anna:hush@[::1/shop", "brackets"), ("mysql://anna:hush@[::1]x/shop", "behind the address"),
  ]

  @Test(arguments: bad)
  func `what is no URL is refused in a sentence that shows no password`(_ url: String, _ words: String) throws {
    let error = try #require(throws: StoreError.self) { try MySQLURL.address(url) }
    #expect(error.code == .invalidRequest)
    #expect(error.sentence.contains(words), "\(error)")
    #expect(!"\(error)".contains("hush"))
    #expect(!"\(error)".contains("hu/sh"))
  }
}
