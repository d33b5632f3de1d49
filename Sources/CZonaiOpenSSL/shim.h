#pragma once
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* Variadic functions and function-like macros, which Swift does not import. */
static inline EVP_PKEY *zonai_openssl_new_p256_key(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"); }
static inline long zonai_openssl_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
