import ZonaiJSON

/// Reads a JSON file that a shell or an environment file changed on its way, if there is one
/// reading.
enum JSONRepair {
  /// nil if it stays unreadable: strings with real line breaks in them, or quotes that are all
  /// escaped.
  static func reading(_ text: String) -> JSON? {
    if let json = try? JSON(parsing: withEscapedBreaks(text)) { return json }
    let unescaped = (try? JSON(parsing: withEscapedBreaks("\"" + text + "\"")))?.string
    return unescaped.flatMap { try? JSON(parsing: withEscapedBreaks($0)) }
  }

  /// With every line break inside a string written as \n.
  private static func withEscapedBreaks(_ text: String) -> String {
    var escaped = ""
    var (isString, isEscape) = (false, false)
    for character in text {
      if isString, character.isNewline {
        // A backslash at the end of a line goes on in the next one.
        escaped += isEscape ? "n" : "\\n"
        isEscape = false
        continue
      }
      if character == "\"", !isEscape { isString.toggle() }
      isEscape = isString && character == "\\" && !isEscape
      escaped.append(character)
    }
    return escaped
  }
}
