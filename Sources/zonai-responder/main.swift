import ZonaiHTTP

#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#else
  import Darwin
#endif

// zonai-responder --ca FILE [--fcm] [--port N] [--dead-every N] [--max-streams N]
// Writes its certificate authority to FILE, prints its port, serves until standard input ends.

var options = Responder.Options()
var authorityFile: String?
var arguments = CommandLine.arguments.dropFirst().makeIterator()
while let argument = arguments.next() {
  switch argument {
  case "--fcm": options.isFCM = true
  case "--ca": authorityFile = arguments.next()
  case "--port": options.port = arguments.next().flatMap(UInt16.init) ?? 0
  case "--dead-every": options.deadEvery = arguments.next().flatMap(Int.init) ?? 0
  case "--max-streams": options.maxStreams = arguments.next().flatMap(UInt32.init) ?? 1000
  default:
    fputs("zonai-responder: unknown argument \(argument)\n", stderr)
    exit(2)
  }
}
signal(SIGPIPE, SIG_IGN)
do {
  let authority = try CertificateAuthority()
  let identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
  let responder = try Responder(options, identity: identity)
  if let authorityFile {
    guard let file = fopen(authorityFile, "w") else {
      throw ResponderError(description: "cannot write \(authorityFile): errno \(errno)")
    }
    fputs(authority.certificatePEM, file)
    fclose(file)
  }
  print(responder.port)
  fflush(stdout)
  responder.serve()
} catch {
  fputs("zonai-responder: \(error)\n", stderr)
  exit(1)
}
