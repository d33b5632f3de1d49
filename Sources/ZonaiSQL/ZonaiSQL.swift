// The store, written once for every SQL database: claims, settles, prunes, jobs and Zonai's own tables.
//
// An adapter brings a driver (connections on threads of their own), a dialect (the few clauses that databases write
// differently) and an error table (its numbers to `StoreError`). Text comes from literals, identifiers are quoted after
// they were found in the schema, values are bound: there is no fourth way.
//
// What it does not do well: it is no query builder for applications, and speaks only the statements that Zonai needs.
