// The store in PostgreSQL: a driver, a dialect and an error table under `SQLStore`.
