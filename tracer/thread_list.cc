// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/thread_list.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/raw_file.h"

namespace gpuprof::tracer {
namespace {

struct DirectoryEntry {  // linux_dirent64
  uint64_t inode;
  int64_t offset;
  uint16_t bytes;
  uint8_t type;
  char name[];
};

}  // namespace

void ListThreads(std::vector<int32_t>* tids) {
  const int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  alignas(8) char buffer[8192];
  for (;;) {
    const long n = syscall(SYS_getdents64, fd, buffer, sizeof(buffer));
    if (n <= 0) break;
    for (long at = 0; at < n;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      int32_t tid = 0;
      for (const char* p = entry->name; *p >= '0' && *p <= '9'; ++p) tid = tid * 10 + (*p - '0');
      if (tid != 0) tids->push_back(tid);
      at += entry->bytes;
    }
  }
  close(fd);
}

void TaskPath(int32_t tid, const char* file, char* path) {
  char digits[12];
  int n = 0;
  for (int32_t rest = tid; rest > 0; rest /= 10) digits[n++] = static_cast<char>('0' + rest % 10);
  path = stpcpy(path, "/proc/self/task/");
  while (n > 0) *path++ = digits[--n];
  *path++ = '/';
  strcpy(path, file);
}

bool IsToolName(const char* name, uint32_t bytes) {
  return bytes >= 8 && memcmp(name, "gpuprof-", 8) == 0;
}

bool IsToolThread(int32_t tid) {
  char path[64], name[32];
  TaskPath(tid, "comm", path);
  return IsToolName(name, ReadSmallFile(path, name, sizeof(name)));
}

}  // namespace gpuprof::tracer
