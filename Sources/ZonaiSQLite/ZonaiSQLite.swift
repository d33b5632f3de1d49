// SQLite: a driver, a dialect and an error table for the SQL store.
