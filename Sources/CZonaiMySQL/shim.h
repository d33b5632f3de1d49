#pragma once
/* Oracle's 8.0 header uses bool without including it. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <mysql.h>

/* MariaDB Connector/C and Oracle's client differ in their booleans, in how TLS is asked for and in the layout of
   MYSQL_BIND. What differs is here, so that no line of Swift depends on which of them was found. */

/* `char` in MariaDB's, `bool` in Oracle's. */
typedef __typeof__(*((MYSQL_BIND *)0)->is_null) zonai_mysql_bool;

static inline int zonai_mysql_failed(zonai_mysql_bool result) { return result != 0; }

static inline int zonai_mysql_is_mariadb_client(void) {
#if defined(MARIADB_PACKAGE_VERSION_ID)
  return 1;
#else
  return 0;
#endif
}

/* MARK: Options. Their numbers differ between the two, so only names are used. */

static inline void zonai_mysql_set_timeouts(MYSQL *connection, unsigned connect, unsigned silent) {
  mysql_options(connection, MYSQL_OPT_CONNECT_TIMEOUT, &connect);
  mysql_options(connection, MYSQL_OPT_READ_TIMEOUT, &silent);
  mysql_options(connection, MYSQL_OPT_WRITE_TIMEOUT, &silent);
}

static inline void zonai_mysql_use_tcp(MYSQL *connection) {
  unsigned protocol = MYSQL_PROTOCOL_TCP;
  mysql_options(connection, MYSQL_OPT_PROTOCOL, &protocol);
}

static inline void zonai_mysql_use_socket(MYSQL *connection) {
  unsigned protocol = MYSQL_PROTOCOL_SOCKET;
  mysql_options(connection, MYSQL_OPT_PROTOCOL, &protocol);
}

static inline void zonai_mysql_set_charset(MYSQL *connection) {
  mysql_options(connection, MYSQL_SET_CHARSET_NAME, "utf8mb4");
}

static inline void zonai_mysql_refuse_local_infile(MYSQL *connection) {
  unsigned off = 0;
  mysql_options(connection, MYSQL_OPT_LOCAL_INFILE, &off);
}

static inline void zonai_mysql_read_option_file(MYSQL *connection, const char *path) {
  mysql_options(connection, MYSQL_READ_DEFAULT_FILE, path);
}

static inline void zonai_mysql_read_option_group(MYSQL *connection, const char *group) {
  mysql_options(connection, MYSQL_READ_DEFAULT_GROUP, group);
}

/* How many bytes one value may have: the server's limit decides. */
static inline void zonai_mysql_lift_packet_limit(MYSQL *connection) {
  unsigned long most = 1024ul * 1024ul * 1024ul;
#if defined(MARIADB_PACKAGE_VERSION_ID)
  mysql_optionsv(connection, MYSQL_OPT_MAX_ALLOWED_PACKET, &most);
#else
  mysql_options(connection, MYSQL_OPT_MAX_ALLOWED_PACKET, &most);
#endif
}

/* Files of PEM, or NULL. */
static inline void zonai_mysql_set_tls_files(
    MYSQL *connection, const char *authorities, const char *certificate, const char *key) {
  if (authorities) mysql_options(connection, MYSQL_OPT_SSL_CA, authorities);
  if (certificate) mysql_options(connection, MYSQL_OPT_SSL_CERT, certificate);
  if (key) mysql_options(connection, MYSQL_OPT_SSL_KEY, key);
}

/* 0: never, 1: where the server can, 2: always, 3: with a certificate of the authorities, 4: and with the host's name in it.
   MariaDB's client knows no 3: it checks the name too. */
static inline int zonai_mysql_set_tls(MYSQL *connection, int level) {
#if defined(MARIADB_PACKAGE_VERSION_ID)
  zonai_mysql_bool use = level >= 1, verify = level >= 3;
  int result = mysql_options(connection, MYSQL_OPT_SSL_ENFORCE, &use);
  return result ? result : mysql_options(connection, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
#else
  static const unsigned modes[] = {
      SSL_MODE_DISABLED, SSL_MODE_PREFERRED, SSL_MODE_REQUIRED, SSL_MODE_VERIFY_CA, SSL_MODE_VERIFY_IDENTITY};
  unsigned mode = modes[level];
  /* Without TLS the password of MySQL 8's usual plugin travels encrypted with the server's key. */
  zonai_mysql_bool fetch_key = 1;
  mysql_options(connection, MYSQL_OPT_GET_SERVER_PUBLIC_KEY, &fetch_key);
  return mysql_options(connection, MYSQL_OPT_SSL_MODE, &mode);
#endif
}

/* MARK: The connection */

/* Updates tell how many rows they matched, not how many were different before. */
static inline MYSQL *zonai_mysql_connect(
    MYSQL *connection, const char *host, const char *user, const char *password, const char *database, unsigned port,
    const char *socket) {
  return mysql_real_connect(connection, host, user, password, database, port, socket, CLIENT_FOUND_ROWS);
}

static inline int zonai_mysql_socket(MYSQL *connection) {
#if defined(MARIADB_PACKAGE_VERSION_ID)
  return mysql_get_socket(connection);
#else
  return connection->net.fd;
#endif
}

static inline int zonai_mysql_is_in_transaction(MYSQL *connection) {
  return (connection->server_status & SERVER_STATUS_IN_TRANS) != 0;
}

/* MARK: Values that are bound */

/* Parameters of one statement: the array that the library reads, and the place of what it points to. */
typedef struct {
  MYSQL_BIND *array;
  unsigned long *lengths;
  unsigned count;
  unsigned char *bytes;
  size_t room, used;
} zonai_mysql_parameters;

static inline void zonai_mysql_parameters_free(zonai_mysql_parameters *parameters) {
  if (!parameters) return;
  free(parameters->array);
  free(parameters->lengths);
  free(parameters->bytes);
  free(parameters);
}

static inline zonai_mysql_parameters *zonai_mysql_parameters_make(unsigned count) {
  zonai_mysql_parameters *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->array = calloc(count ? count : 1, sizeof *made->array);
  made->lengths = calloc(count ? count : 1, sizeof *made->lengths);
  made->count = count;
  if (made->array && made->lengths) return made;
  zonai_mysql_parameters_free(made);
  return NULL;
}

/* What a value takes in a parameter's memory: numbers want to stand at multiples of their size. */
static inline size_t zonai_mysql_room(size_t count) { return (count + 7) & ~(size_t)7; }

/* Forgets the values and makes room for so many bytes of new ones. */
static inline int zonai_mysql_parameters_begin(zonai_mysql_parameters *parameters, size_t room) {
  memset(parameters->array, 0, (parameters->count ? parameters->count : 1) * sizeof *parameters->array);
  parameters->used = 0;
  if (room <= parameters->room && parameters->bytes) return 1;
  free(parameters->bytes);
  parameters->bytes = malloc(room ? room : 1);
  parameters->room = parameters->bytes ? room : 0;
  return parameters->bytes != NULL;
}

static inline void zonai_mysql_bind(
    zonai_mysql_parameters *parameters, unsigned index, enum enum_field_types type, const void *value, size_t count) {
  MYSQL_BIND *bind = &parameters->array[index];
  unsigned char *place = parameters->bytes + parameters->used;
  if (count) memcpy(place, value, count);
  parameters->used += zonai_mysql_room(count);
  parameters->lengths[index] = (unsigned long)count;
  bind->buffer_type = type;
  bind->buffer = place;
  bind->buffer_length = (unsigned long)count;
  bind->length = &parameters->lengths[index];
}

static inline void zonai_mysql_bind_null(zonai_mysql_parameters *parameters, unsigned index) {
  parameters->array[index].buffer_type = MYSQL_TYPE_NULL;
}

static inline void zonai_mysql_bind_integer(zonai_mysql_parameters *parameters, unsigned index, long long value) {
  zonai_mysql_bind(parameters, index, MYSQL_TYPE_LONGLONG, &value, sizeof value);
}

static inline void zonai_mysql_bind_real(zonai_mysql_parameters *parameters, unsigned index, double value) {
  zonai_mysql_bind(parameters, index, MYSQL_TYPE_DOUBLE, &value, sizeof value);
}

static inline void zonai_mysql_bind_text(
    zonai_mysql_parameters *parameters, unsigned index, const void *text, size_t count) {
  zonai_mysql_bind(parameters, index, MYSQL_TYPE_STRING, text, count);
}

static inline void zonai_mysql_bind_bytes(
    zonai_mysql_parameters *parameters, unsigned index, const void *bytes, size_t count) {
  zonai_mysql_bind(parameters, index, MYSQL_TYPE_BLOB, bytes, count);
}

static inline int zonai_mysql_bind_all(MYSQL_STMT *statement, zonai_mysql_parameters *parameters) {
  return zonai_mysql_failed(mysql_stmt_bind_param(statement, parameters->array));
}

/* MARK: Values that are fetched */

/* What the library writes one row of a result into. */
typedef struct {
  MYSQL_BIND *array;
  unsigned long *lengths;
  zonai_mysql_bool *nulls, *errors;
  unsigned count;
} zonai_mysql_row;

static inline void zonai_mysql_row_free(zonai_mysql_row *row) {
  if (!row) return;
  if (row->array) for (unsigned index = 0; index < row->count; index++) free(row->array[index].buffer);
  free(row->array);
  free(row->lengths);
  free(row->nulls);
  free(row->errors);
  free(row);
}

static inline zonai_mysql_row *zonai_mysql_row_make(unsigned count) {
  zonai_mysql_row *row = calloc(1, sizeof *row);
  if (!row) return NULL;
  row->count = count;
  row->array = calloc(count, sizeof *row->array);
  row->lengths = calloc(count, sizeof *row->lengths);
  row->nulls = calloc(count, sizeof *row->nulls);
  row->errors = calloc(count, sizeof *row->errors);
  if (row->array && row->lengths && row->nulls && row->errors) return row;
  zonai_mysql_row_free(row);
  return NULL;
}

/* Makes the column be fetched as this type, into so many bytes. */
static inline int zonai_mysql_row_want(
    zonai_mysql_row *row, unsigned column, enum enum_field_types type, int is_unsigned, size_t room) {
  MYSQL_BIND *bind = &row->array[column];
  void *buffer = realloc(bind->buffer, room ? room : 1);
  if (!buffer) return 0;
  bind->buffer_type = type;
  bind->buffer = buffer;
  bind->buffer_length = (unsigned long)room;
  bind->is_unsigned = is_unsigned != 0;
  bind->length = &row->lengths[column];
  bind->is_null = &row->nulls[column];
  bind->error = &row->errors[column];
  return 1;
}

static inline int zonai_mysql_row_bind(MYSQL_STMT *statement, zonai_mysql_row *row) {
  return zonai_mysql_failed(mysql_stmt_bind_result(statement, row->array));
}

/* Fetches what did not fit, into more room. */
static inline int zonai_mysql_row_refetch(MYSQL_STMT *statement, zonai_mysql_row *row, unsigned column) {
  MYSQL_BIND *bind = &row->array[column];
  unsigned long length = row->lengths[column];
  if (!zonai_mysql_row_want(row, column, bind->buffer_type, 0, length)) return 1;
  return mysql_stmt_fetch_column(statement, bind, column, 0);
}

static inline int zonai_mysql_row_is_null(const zonai_mysql_row *row, unsigned column) {
  return row->nulls[column] != 0;
}
static inline unsigned long zonai_mysql_row_length(const zonai_mysql_row *row, unsigned column) {
  return row->lengths[column];
}
static inline unsigned long zonai_mysql_row_room(const zonai_mysql_row *row, unsigned column) {
  return row->array[column].buffer_length;
}
static inline const void *zonai_mysql_row_bytes(const zonai_mysql_row *row, unsigned column) {
  return row->array[column].buffer;
}
