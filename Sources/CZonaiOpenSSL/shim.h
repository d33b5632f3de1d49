#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* Variadic functions and function-like macros, which Swift does not import. */
static inline EVP_PKEY *zonai_openssl_new_p256_key(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"); }
static inline EVP_PKEY *zonai_openssl_new_rsa_key(size_t bits) { return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits); }
static inline long zonai_openssl_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

typedef void (*zonai_openssl_info_callback)(const SSL *ssl, int where, int value);

/* A client that speaks HTTP/2 and nothing else, and reads and writes in large pieces. 1: done. */
static inline int zonai_openssl_prepare_http2(SSL_CTX *context, void *owner, zonai_openssl_info_callback callback) {
  static const unsigned char h2[] = {2, 'h', '2'};
  if (SSL_CTX_set_alpn_protos(context, h2, sizeof h2) != 0) return 0;
  if (!SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)) return 0;
  if (!SSL_CTX_set_app_data(context, owner)) return 0;
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, 64 * 1024);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_info_callback(context, callback);
  return 1;
}
static inline void *zonai_openssl_owner(const SSL *ssl) { return SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)); }
static inline void zonai_openssl_free(void *memory) { OPENSSL_free(memory); }
