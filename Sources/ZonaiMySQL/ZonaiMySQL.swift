// The store in the application's own MySQL or MariaDB database: a driver, a dialect and an error table under `SQLStore`.
//
// One source serves MySQL 8.0 and newer and MariaDB 10.6 and newer, told apart when a connection is opened, and builds
// against MariaDB's Connector/C as well as Oracle's client. Zonai's own tables (`zonai_…`) live beside the application's.
//
// What it does not do well: these servers tell nobody when something was committed, so an idle worker hears of a job that
// another process enqueued by asking every half second. And they have no RETURNING: a prune takes a few statements.
