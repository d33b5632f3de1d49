// The store in the application's own SQLite file: a driver, a dialect and an error table under `SQLStore`.
//
// Zonai opens the file, never creates it, and leaves its journal mode alone. Its own tables (`zonai_…`) live beside the
// application's. Several processes may share one file.
//
// What it does not do well: SQLite has one writer at a time, so a long write of the application holds claims and renewals
// up, and a file on a network share is no place for either.
