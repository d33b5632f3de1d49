// The store in MySQL or MariaDB: a driver, a dialect and an error table under `SQLStore`.
