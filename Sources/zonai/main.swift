import ZonaiCLI

// Swift's own list of the arguments repairs what is not UTF-8.
ZonaiCommand.main(
  UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).map { argument in
    argument.flatMap { String(validatingCString: $0) }
  })
