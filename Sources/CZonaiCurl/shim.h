#pragma once
#include <curl/curl.h>

/* Swift does not import variadic functions. The parentheses step around curl's type-checking macros. */
static inline CURLcode zonai_curl_set_long(CURL *handle, CURLoption option, long value) {
  return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode zonai_curl_set_string(CURL *handle, CURLoption option, const char *value) {
  return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode zonai_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode zonai_curl_get_long(CURL *handle, CURLINFO info, long *value) {
  return (curl_easy_getinfo)(handle, info, value);
}
static inline CURLcode zonai_curl_get_socket(CURL *handle, curl_socket_t *value) {
  return (curl_easy_getinfo)(handle, CURLINFO_ACTIVESOCKET, value);
}
