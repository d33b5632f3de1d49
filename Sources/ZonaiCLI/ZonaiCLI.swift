// The command `zonai`: the whole system without writing Swift.
//
// A command is a value that names its options and runs with what was given for them. Results go to standard output,
// progress and everything else to standard error; with `--json` both are JSON. Exit codes: 0 done; 2 refused before
// anything was written; 1 something was unreachable, read-only or full, or a job ended otherwise than completed.
//
// It stands on the API that embedders use, and on nothing beneath it.
