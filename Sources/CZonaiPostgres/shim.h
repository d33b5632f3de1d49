#pragma once
#include <libpq-fe.h>

/* Notices are for a terminal; without a receiver libpq writes them to the standard error output. */
static inline void zonai_pq_ignore_notice(void *argument, const PGresult *result) { (void)argument; (void)result; }
static inline void zonai_pq_ignore_notices(PGconn *connection) {
  PQsetNoticeReceiver(connection, zonai_pq_ignore_notice, 0);
}
