import Testing
import ZonaiCore
import ZonaiPostgres

@testable import struct ZonaiPostgres.PostgresAddress

/// Connection strings, without a server.
@Suite struct AddressTests {
  @Test(arguments: [
    "postgres://db", "postgresql://zonai@db.internal:6432/shop?sslmode=verify-full", "postgres://",
    "postgres://zonai:p%40ss%2Fw%3Ard@db/shop", "postgres://u:secret@[::1]:5433/x", "host=db dbname=shop",
    "postgres://%2Fvar%2Frun%2Fpostgresql/shop", "host=/tmp port=5433 user='o\\'brien' password='a b'",
    "postgres://a,b:5433,c/shop?target_session_attrs=read-write", "dbname=x options='-c search_path=app'",
  ])
  func `libpq's own forms are taken`(_ text: String) throws {
    _ = try PostgresStore(url: text)
  }

  @Test(arguments: [
    "", "shop", "mysql://db/shop", "postgres:shop", "postgres://zonai:hunter22@db:port/shop",
    "host=db password='hunter22",
    "postgres://zonai:hun@ter22@db/shop", "postgres://zonai:hunter/22@db/shop",
    "postgres://u:hunter22@db/shop?nonsense=1",
    "postgres://u:hunter22@db/shop?sslmode", "password=hunter22 nonsense=1", "hunter22=x",
    "postgres://u:hunter%2@db/shop",
    "postgres://u:hunter22@db/sh%zzop", "host=db\u{0}hunter22",
  ])
  func `what cannot be meant is refused with a sentence that repeats nothing of it`(_ text: String) throws {
    let error = #expect(throws: StoreError.self) { _ = try PostgresStore(url: text) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.sentence.contains("percent-encoded") == true || error?.sentence.contains("write %40 for @") == true)
    #expect(error.map { "\($0)".contains("hunter") || "\($0)".contains("ter22") } == false)
  }

  @Test(arguments: [
    ("postgres://zonai:hunter22@db/shop", "db:5432"), ("postgres://zonai:hunter22@a:1,b:2/shop", "a:1"),
    ("host=/run/pg password=hunter22 port=7", "/run/pg:7"), ("hostaddr=10.0.0.1 password=hunter22", "10.0.0.1:5432"),
  ])
  func `an address shows where it leads and nothing else`(_ text: String, _ shown: String) throws {
    let address = try PostgresAddress(text)
    #expect("\(address)" == shown)
    var dumped = ""
    dump(address, to: &dumped)
    #expect(!dumped.contains("hunter22") && !"\(address) \(String(reflecting: address))".contains("hunter22"))
  }

  @Test func `words that hold a piece of the password are not shown`() throws {
    let place = try PostgresAddress("postgres://zonai:hun%20ter22@db/shop").place
    #expect(place.safe("could not translate host name \"hun ter22\"") == nil)
    #expect(place.safe("could not translate host name \"hun%20ter22\"") == nil)
    #expect(place.safe("could not translate host name \"db\"") != nil)
    let short = try PostgresAddress("postgres://zonai:abc@db/shop").place
    #expect(short.safe("no database abc") == nil)
    #expect(short.safe("no database abcd") != nil)
  }

  @Test func `hosts, ports and time-outs are read as libpq reads them`() throws {
    func hosts(_ text: String) throws -> [String] {
      try PostgresAddress(text).hosts.map { "\($0.name)|\($0.address)|\($0.port)" }
    }
    #expect(try hosts("postgres://a:1,b,c:3/x") == ["a||1", "b||5432", "c||3"])
    #expect(try hosts("host=a,b port=7") == ["a||7", "b||7"])
    #expect(try hosts("host=a,b hostaddr=1.1.1.1,2.2.2.2") == ["a|1.1.1.1|5432", "b|2.2.2.2|5432"])
    #expect(try PostgresAddress("host=a").timeout == 10_000)
    #expect(try PostgresAddress("host=a connect_timeout=1").timeout == 2000)
    #expect(try PostgresAddress("host=a connect_timeout=30").timeout == 30_000)
    #expect(try PostgresAddress("host=a connect_timeout=0").timeout == 10_000)
  }
}
