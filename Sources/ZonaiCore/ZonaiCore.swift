// The core of Zonai: one message, one audience, and the question that everything else serves: whose fault was it?
//
// It holds the words (`PushMessage`, `Audience`, `Recipients`, `Lane`), the two protocols that others implement
// (`TokenStore` with its siblings, and `Transport`), the tables that turn a service's answer into a `Verdict`, the
// weighing of evidence, the life of a batch and of a job as plain values, and the engine that drives them.
//
// What it does not do: it speaks no SQL and no HTTP, parses no JSON, reads no clock that was not handed to it, and
// imports no Foundation.
