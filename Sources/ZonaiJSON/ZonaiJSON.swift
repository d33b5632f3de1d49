// JSON as a value, for the modules above the core: read from bytes, written to bytes, looked into by name.
//
// It reads and writes by itself rather than through Foundation's coders, for four things that they do not give:
// the line and column of a mistake, a refusal of repeated keys, a limit on depth, and a cost of a few microseconds for
// the bodies of the push services. `JSON` is `Codable` as well, so it fits into types that use those coders.
// What it does not do well: documents too large for memory, and integers beyond 64 bits, which become floating point.
