// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A descriptor kept open in somebody else's process. Programs close descriptors they do not know,
// and reuse the numbers. So gpuprof's descriptor is moved up, to numbers that are less often
// reused. Its identity is checked before each use. Signal-safe.

#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include "inject/raw_syscall.h"

namespace gpuprof::inject {

class GuardedFd {
 public:
  // Takes `fd` over, moved up as far as the limits allow.
  void Adopt(int fd) noexcept {
    long moved = -1;
    // Within the table of 64 that every process begins with: a larger one takes the kernel
    // milliseconds where threads share it.
    for (long at = 60; at >= 20 && moved < 0; at -= 20)
      moved = raw::Call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, at);
    if (moved >= 0) {
      raw::Call(SYS_close, fd);
      fd = static_cast<int>(moved);
    }
    struct stat status;
    if (Stat(fd, &status)) {
      device_ = status.st_dev;
      inode_ = status.st_ino;
      fd_ = fd;
    }
  }
  bool Valid() const noexcept {
    struct stat status;
    return fd_ >= 0 && Stat(fd_, &status) && status.st_dev == device_ && status.st_ino == inode_;
  }
  void CloseIfOurs() noexcept {
    if (Valid()) raw::Call(SYS_close, fd_);
    fd_ = -1;
  }
  void Forget() noexcept { fd_ = -1; }
  int fd() const noexcept { return fd_; }

 private:
  static bool Stat(int fd, struct stat* status) noexcept {
#if defined(SYS_newfstatat)
    return raw::Call(SYS_newfstatat, fd, raw::Arg(""), raw::Arg(status), AT_EMPTY_PATH) == 0;
#else
    return raw::Call(SYS_fstat, fd, raw::Arg(status)) == 0;
#endif
  }

  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace gpuprof::inject
