import ZonaiCore

/// The option that names an app, which counts more than the configuration's.
enum AppOption {
  static let name = "--app"

  static func option(_ help: String) -> Option<AppName> {
    Option(name, "NAME", help) { text throws(ArgumentProblem) in try parse(text) }
  }

  /// Empty for the default app.
  static func parse(_ text: String) throws(ArgumentProblem) -> AppName {
    let app = AppName(rawValue: text)
    if let problem = app.problem { throw ArgumentProblem("wants an app's name, but \(problem)") }
    return app
  }
}

extension AppName {
  /// The option that names it, for commands that are suggested; nothing for the default app.
  var words: [String] { self == .standard ? [] : [AppOption.name, rawValue] }
}
