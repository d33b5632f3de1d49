import ZonaiCLI
