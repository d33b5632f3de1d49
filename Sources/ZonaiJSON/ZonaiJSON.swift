// JSON as a value, for the modules above the core. The core itself parses none.
