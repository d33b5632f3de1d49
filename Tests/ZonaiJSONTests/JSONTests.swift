import Testing
import ZonaiJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct JSONTests {
  static let values: [(String, JSON)] = [
    ("null", .null), ("true", .bool(true)), (" false\n", .bool(false)),
    ("0", .integer(0)), ("-0", .integer(0)), ("-12", .integer(-12)),
    ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
    ("9223372036854775808", .number(9_223_372_036_854_775_808)),
    ("123456789012345678901234567890", .number(1.2345678901234568e29)),
    ("1.0", .number(1)), ("1e3", .number(1000)), ("-2.5E-1", .number(-0.25)),
    ("\"\"", .string("")), (#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#, .string("a\"\\/\u{8}\u{C}\n\r\té😀")),
    ("[]", .array([])), ("{}", .object([:])), ("[1,[2],{}]", [1, [2], [:]]),
    (#"{"a":{"b":[null]},"":1}"#, ["a": ["b": [nil]], "": 1]),
    ("\u{FEFF}[1]", [1]),
  ]

  @Test(arguments: values)
  func `a document becomes its value, and the value written becomes itself again`(_ text: String, _ value: JSON) throws
  {
    #expect(try JSON(parsing: text) == value)
    #expect(try JSON(parsing: value.bytes) == value)
    #expect(try JSON(parsing: value.prettyText) == value)
  }

  static let mistakes: [(String, JSONError.Code, Int, Int)] = [
    ("", .empty, 1, 1), (" \n ", .empty, 2, 2),
    ("{\"a\": 1,\n  \"b\" 2}", .syntax, 2, 7), ("[1 2]", .syntax, 1, 4), ("[1,]", .syntax, 1, 4),
    ("{\"a\":1,}", .syntax, 1, 8), ("{a:1}", .syntax, 1, 2), ("[1] x", .syntax, 1, 5), ("tru", .syntax, 1, 1),
    ("01", .syntax, 1, 2), ("+1", .syntax, 1, 1), ("1.", .syntax, 1, 3), (".5", .syntax, 1, 1), ("1e", .syntax, 1, 3),
    ("-", .syntax, 1, 2), ("NaN", .syntax, 1, 1), ("'a'", .syntax, 1, 1), ("\"a", .syntax, 1, 1),
    ("\"a\nb\"", .syntax, 1, 3), (#""\x""#, .syntax, 1, 3), (#""\u12g4""#, .syntax, 1, 6),
    (#""\ud800""#, .syntax, 1, 2), (#""\ud800\u0041""#, .syntax, 1, 2), (#""\udc00""#, .syntax, 1, 2),
    ("[", .syntax, 1, 2), ("{\"a\"", .syntax, 1, 5), ("{\"a\":", .syntax, 1, 6), ("1e999", .numberOutOfRange, 1, 1),
    ("{\"a\":1,\n\"a\":2}", .duplicateKey, 2, 1),
  ]

  @Test(arguments: mistakes)
  func `a mistake is named with its place`(_ text: String, _ code: JSONError.Code, _ line: Int, _ column: Int) {
    let error = #expect(throws: JSONError.self) { try JSON(parsing: text) }
    #expect(error?.code == code)
    #expect(error?.line == line)
    #expect(error?.column == column)
  }

  @Test func `an error reads as a sentence with line and column`() {
    let error = #expect(throws: JSONError.self) { try JSON(parsing: "{\n  \"a\": 1\n  \"b\": 2\n}") }
    #expect(error?.description == "line 3, column 3: a comma or '}' is expected here")
  }

  @Test(arguments: [
    [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0x5C, 0x6E, 0x80, 0x22],
  ])
  func `bytes that are not UTF-8 are refused`(_ bytes: [UInt8]) {
    let error = #expect(throws: JSONError.self) { try JSON(parsing: bytes) }
    #expect(error?.code == .invalidUTF8)
  }

  @Test func `depth has a limit that is exact`() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    _ = try JSON(parsing: nested(128))
    let error = #expect(throws: JSONError.self) { try JSON(parsing: nested(129)) }
    #expect(error?.code == .tooDeep)
    _ = try JSON(parsing: nested(3), depthLimit: 3)
    #expect(throws: JSONError.self) { try JSON(parsing: "{\"a\":[[{}]]}", depthLimit: 3) }
    #expect(throws: JSONError.self) { try JSON(parsing: String(repeating: "[", count: 1_000_000)) }
  }

  @Test func `members are sorted and slashes left alone when written`() throws {
    let value: JSON = ["b": "a/b", "a": [1, 2.5, true, nil], "c": ["é": "\u{1}\n\"\\"]]
    #expect(value.text == #"{"a":[1,2.5,true,null],"b":"a/b","c":{"é":"\u0001\n\"\\"}}"#)
    #expect(JSON.number(.infinity).text == "null")
    #expect(value.prettyText.hasPrefix("{\n  \"a\": [\n    1,\n"))
  }

  @Test func `text spliced into a rendered body is escaped without an encoder`() throws {
    let token = "quote\" back\\ line\n nul\u{0} é"
    var body = Array(#"{"token":""#.utf8)
    JSON.escape(token.utf8, into: &body)
    body.append(contentsOf: "\"}".utf8)
    #expect(try JSON(parsing: body) == ["token": .string(token)])
    #expect(JSON.escape("plain".utf8) == Array("plain".utf8))
  }

  @Test func `accessors answer only for their own kind`() {
    let value: JSON = ["text": "x", "one": 1, "half": 0.5, "whole": 2.0, "yes": true, "list": [7], "nothing": nil]
    #expect(value["text"]?.string == "x")
    #expect(value["one"]?.integer == 1)
    #expect(value["one"]?.number == 1)
    #expect(value["whole"]?.integer == 2)
    #expect(value["half"]?.integer == nil)
    #expect(value["yes"]?.bool == true)
    #expect(value["one"]?.bool == nil)
    #expect(value["list"]?[0]?.integer == 7)
    #expect(value["list"]?[1] == nil)
    #expect(value["nothing"]?.isNull == true)
    #expect(value["absent"] == nil)
    #expect(value["text"]?["x"] == nil)
  }

  @Test func `it fits into Foundation's coders`() throws {
    let value: JSON = ["a": [1, 2.5, "x", nil, false, ["b": [:]]]]
    let data = try JSONEncoder().encode(value)
    #expect(try JSON(parsing: data) == value)
    #expect(try JSONDecoder().decode(JSON.self, from: Data(value.bytes)) == value)
  }

  @Test func `no damage to a document makes the reader stop`() {
    var random = SystemRandomNumberGenerator()
    let seed = Array(#"{"a":[1,-2.5e3,"x\u00e9\ud83d\ude00\n",null,true,{"b":{}}],"c":"\\\"/"}"#.utf8)
    for _ in 0..<20_000 {
      var bytes = seed
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        default: bytes.insert(seed[Int.random(in: 0..<seed.count, using: &random)], at: place)
        }
      }
      guard let value = try? JSON(parsing: bytes) else { continue }
      #expect((try? JSON(parsing: value.bytes)) == value)
    }
  }
}
