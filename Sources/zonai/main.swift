import ZonaiCLI

await ZonaiCommand.main(CommandLine.arguments)
