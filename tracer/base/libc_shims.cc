// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hidden definitions of the few libc functions whose exported symbols are younger than the oldest
// glibc that this object must load on (2.28); static libraries linked into it call them. Straight
// system calls, errno as usual.

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {

int fstat(int fd, struct stat* status) { return static_cast<int>(syscall(SYS_fstat, fd, status)); }

int stat(const char* path, struct stat* status) {
  return static_cast<int>(syscall(SYS_newfstatat, -100 /* AT_FDCWD */, path, status, 0));
}

}  // extern "C"
