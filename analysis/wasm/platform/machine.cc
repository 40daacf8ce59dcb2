// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Stands in for what a page does not have: other threads, other processes, and calls of Linux.

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "analysis/base/memory_limit.h"
#include "analysis/base/parallel.h"
#include "proto/codec/recover.h"

namespace gpuprof::analysis {

int ThreadCount(int) { return 1; }

void ParallelFor(size_t count, int, const std::function<void(size_t, int)>& work) {
  for (size_t i = 0; i < count; ++i) work(i, 0);
}

// A page has at most 4 GiB. Columns may take 3 of them: passes need some memory, too.
uint64_t DefaultMemoryLimit() { return uint64_t{3} << 30; }
uint64_t RoomInMemory() { return DefaultMemoryLimit(); }

}  // namespace gpuprof::analysis

namespace gpuprof::codec {

bool ProcessIsAlive(int32_t, uint64_t) { return false; }

// A report carries no ring files.
RecoverResult Recover(const std::string&, int, LockWait*) {
  RecoverResult result;
  result.error = "a page recovers nothing; run `gpuprof recover`";
  return result;
}

}  // namespace gpuprof::codec

extern "C" {

int gethostname(char* name, size_t bytes) {
  if (bytes != 0) name[0] = 0;
  return 0;
}

int madvise(void*, size_t, int) { return 0; }

// There is one thread. Who starts another one and waits for it gets its work done at once.
int pthread_create(pthread_t*, const pthread_attr_t*, void* (*work)(void*), void* argument) {
  work(argument);
  return 0;
}
int pthread_join(pthread_t, void**) { return 0; }

}  // extern "C"
