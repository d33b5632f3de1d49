// Conformance suites and doubles for stores and transports; needs no test framework.
