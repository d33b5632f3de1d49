// What proves a store or a transport, and what stands in for one in a test.
//
// `TokenStoreConformance` and `TransportConformance` are lists of checks, plain values that any test framework can run
// against a fixture. `InMemoryStore` and `ScriptedTransport` pass them, and are the doubles to test an application with:
// their time is a clock you turn, their answers are yours to write.
//
// What it does not do: it knows no SQL, no HTTP and no test framework, and `InMemoryStore` is no place to keep jobs.
