import ZonaiCLI

ZonaiCommand.main(CommandLine.arguments)
