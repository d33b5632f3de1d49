#pragma once
#include <pthread.h>

/* glibc and musl export pthread_setname_np, but their headers show it only to _GNU_SOURCE, which Swift's module of the
   C library is not built with. */
#if defined(__APPLE__)
static inline void zonai_name_current_thread(const char *name) { pthread_setname_np(name); }
#else
extern int pthread_setname_np(pthread_t thread, const char *name);
static inline void zonai_name_current_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
#endif
