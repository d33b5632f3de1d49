// The store in a PostgreSQL database, over libpq: version 12 and newer. It leaves to the database what databases differ in:
// rows locked one by one, arrays in the place of long lists, LISTEN and NOTIFY.
//
// What it does not do well: a connection pooler that hands a server connection on after each transaction costs it prepared
// statements and notifications (it notices by itself), and DNS look-ups are the system's, which no deadline ends.

@_exported import ZonaiCore
@_exported import ZonaiSQL
