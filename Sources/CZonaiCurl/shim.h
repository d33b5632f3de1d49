#pragma once
#include <curl/curl.h>
#include <fcntl.h>
#include <sys/socket.h>

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
static inline CURLcode zonai_curl_set_ssl_context(CURL *handle, curl_ssl_ctx_callback callback, void *owner) {
  CURLcode code = (curl_easy_setopt)(handle, CURLOPT_SSL_CTX_DATA, owner);
  return code != CURLE_OK ? code : (curl_easy_setopt)(handle, CURLOPT_SSL_CTX_FUNCTION, callback);
}
static inline CURLcode zonai_curl_set_body_receiver(CURL *handle, curl_write_callback callback, void *owner) {
  CURLcode code = (curl_easy_setopt)(handle, CURLOPT_WRITEDATA, owner);
  return code != CURLE_OK ? code : (curl_easy_setopt)(handle, CURLOPT_WRITEFUNCTION, callback);
}
static inline CURLcode zonai_curl_set_header_receiver(CURL *handle, curl_write_callback callback, void *owner) {
  CURLcode code = (curl_easy_setopt)(handle, CURLOPT_HEADERDATA, owner);
  return code != CURLE_OK ? code : (curl_easy_setopt)(handle, CURLOPT_HEADERFUNCTION, callback);
}
static inline CURLcode zonai_curl_set_progress(CURL *handle, curl_xferinfo_callback callback, void *owner) {
  CURLcode code = (curl_easy_setopt)(handle, CURLOPT_XFERINFODATA, owner);
  if (code == CURLE_OK) code = (curl_easy_setopt)(handle, CURLOPT_XFERINFOFUNCTION, callback);
  return code != CURLE_OK ? code : (curl_easy_setopt)(handle, CURLOPT_NOPROGRESS, 0L);
}
static inline CURLcode zonai_curl_set_large(CURL *handle, CURLoption option, curl_off_t value) {
  return (curl_easy_setopt)(handle, option, value);
}
/* Lets a handle go without waiting for a name lookup that hangs; older libraries always wait for it. */
static inline CURLcode zonai_curl_set_quick_exit(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
  CURLcode code = (curl_easy_setopt)(handle, CURLOPT_QUICK_EXIT, 1L);
  return code == CURLE_UNKNOWN_OPTION ? CURLE_OK : code;
#else
  return CURLE_OK;
#endif
}
/* Has a multi handle say which sockets it waits for, and how long. */
static inline CURLMcode zonai_curl_multi_set_callbacks(
    CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *owner) {
  CURLMcode code = (curl_multi_setopt)(multi, CURLMOPT_SOCKETFUNCTION, socket);
  if (code == CURLM_OK) code = (curl_multi_setopt)(multi, CURLMOPT_SOCKETDATA, owner);
  if (code == CURLM_OK) code = (curl_multi_setopt)(multi, CURLMOPT_TIMERFUNCTION, timer);
  return code != CURLM_OK ? code : (curl_multi_setopt)(multi, CURLMOPT_TIMERDATA, owner);
}
/* Sockets that no child process inherits: libcurl's own would stay open in it. */
static inline curl_socket_t zonai_curl_open_socket(void *owner, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)owner;
  (void)purpose;
#ifdef SOCK_CLOEXEC
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
  curl_socket_t made = socket(address->family, address->socktype, address->protocol);
  if (made >= 0) fcntl(made, F_SETFD, FD_CLOEXEC);
  return made;
#endif
}
static inline CURLcode zonai_curl_set_private_sockets(CURL *handle) {
  curl_opensocket_callback open_socket = zonai_curl_open_socket;
  return (curl_easy_setopt)(handle, CURLOPT_OPENSOCKETFUNCTION, open_socket);
}
static inline CURLcode zonai_curl_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }
/* The transfer that a finished message of the multi handle speaks of; CURLE_OK with 0 while there is none. */
static inline int zonai_curl_multi_finished(CURLM *multi, CURLcode *result) {
  int left = 0;
  CURLMsg *message = curl_multi_info_read(multi, &left);
  if (!message || message->msg != CURLMSG_DONE) return 0;
  *result = message->data.result;
  return 1;
}
