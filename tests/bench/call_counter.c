// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Preloaded into a program, counts the calls that gpuprof's hooks would see, in the file that
// CALL_COUNTS names, for the process and all that it starts. dormant.py multiplies them with what a
// hook costs.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct Counts {
  uint64_t heap, waits, others;
};
static struct Counts g_unmapped;  // until the file is there, and where there is none
static struct Counts* g_counts = &g_unmapped;

#define COUNT(kind) __atomic_fetch_add(&g_counts->kind, 1, __ATOMIC_RELAXED)

__attribute__((constructor)) static void MapCounts(void) {
  const char* path = getenv("CALL_COUNTS");
  const int file = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (ftruncate(file, sizeof(struct Counts)) == 0) {
    void* counts = mmap(NULL, sizeof(struct Counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (counts != MAP_FAILED) g_counts = counts;
  }
  close(file);
}

// libc's own names of its allocator: dlsym() would allocate.
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* block);

void* malloc(size_t bytes) {
  COUNT(heap);
  return __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) {
  COUNT(heap);
  return __libc_calloc(count, bytes);
}

void* realloc(void* block, size_t bytes) {
  COUNT(heap);
  return __libc_realloc(block, bytes);
}

void free(void* block) {
  COUNT(heap);
  __libc_free(block);
}

int posix_memalign(void** block, size_t alignment, size_t bytes) {
  COUNT(heap);
  void* got = __libc_memalign(alignment, bytes);
  if (got == NULL) return ENOMEM;
  *block = got;
  return 0;
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  COUNT(heap);
  return __libc_memalign(alignment, bytes);
}

void* memalign(size_t alignment, size_t bytes) {
  COUNT(heap);
  return __libc_memalign(alignment, bytes);
}

// The next definition of `name`, of the version that programs are linked with today.
#define NEXT(name, version)      \
  static __typeof__(&name) next; \
  if (next == NULL) next = (__typeof__(&name))dlvsym(RTLD_NEXT, #name, version)

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  NEXT(pthread_mutex_lock, "GLIBC_2.2.5");
  COUNT(waits);
  return next(mutex);
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  NEXT(pthread_cond_wait, "GLIBC_2.3.2");
  COUNT(waits);
  return next(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const struct timespec* until) {
  NEXT(pthread_cond_timedwait, "GLIBC_2.3.2");
  COUNT(waits);
  return next(condition, mutex, until);
}

int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  NEXT(pthread_rwlock_rdlock, "GLIBC_2.2.5");
  COUNT(waits);
  return next(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  NEXT(pthread_rwlock_wrlock, "GLIBC_2.2.5");
  COUNT(waits);
  return next(lock);
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  NEXT(mmap, "GLIBC_2.2.5");
  COUNT(others);
  return next(address, bytes, protection, flags, file, offset);
}

int munmap(void* address, size_t bytes) {
  NEXT(munmap, "GLIBC_2.2.5");
  COUNT(others);
  return next(address, bytes);
}
