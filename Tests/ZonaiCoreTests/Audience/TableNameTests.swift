import Testing
import ZonaiCore

struct TableNameTests {
  @Test(
    arguments: [
      ("users", TableName("users")), ("app.users", TableName("users", schema: "app")),
      ("\"odd.name\"", TableName("odd.name")), ("app.\"odd.name\"", TableName("odd.name", schema: "app")),
      ("\"a\"\"b\"", TableName("a\"b")), ("we ird", TableName("we ird")), ("größe.é", TableName("é", schema: "größe")),
    ] as [(String, TableName)])
  func `a table is named with its schema or without`(text: String, name: TableName) {
    #expect(TableName(written: text) == name)
    #expect(TableName(written: name.written) == name)
  }

  @Test(arguments: ["", ".", "a.", ".a", "a.b.c", "\"a", "a\"b", "\"a\"b", "\"\""])
  func `another form is refused`(text: String) {
    #expect(TableName(written: text) == nil)
  }
}
