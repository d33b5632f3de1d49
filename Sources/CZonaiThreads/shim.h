#pragma once
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

/* glibc and musl export pthread_setname_np, but their headers show it only to _GNU_SOURCE, which Swift's module of the
   C library is not built with. */
#if defined(__APPLE__)
static inline void zonai_name_current_thread(const char *name) { pthread_setname_np(name); }
#else
extern int pthread_setname_np(pthread_t thread, const char *name);
static inline void zonai_name_current_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
#endif

/* A pipe that does not block, and that no child process inherits, not even one that starts at the same moment. */
#if defined(__APPLE__)
static inline int zonai_make_pipe(int ends[2]) {
  if (pipe(ends) != 0) return -1;
  for (int i = 0; i < 2; i++) {
    fcntl(ends[i], F_SETFL, O_NONBLOCK);
    fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  }
  return 0;
}
#else
extern int pipe2(int ends[2], int flags);
static inline int zonai_make_pipe(int ends[2]) { return pipe2(ends, O_NONBLOCK | O_CLOEXEC); }
#endif
