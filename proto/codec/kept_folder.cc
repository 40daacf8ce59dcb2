// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "proto/codec/kept_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cstring>

#include "proto/codec/high_descriptor.h"

namespace gpuprof::codec {

void KeptFolder::Keep(const char* path) {
  constexpr uint64_t kPathBytes = 1024;
  Close();
  const char* slash = std::strrchr(path, '/');
  if (slash == nullptr) return;
  char folder[kPathBytes];
  const uint64_t bytes = static_cast<uint64_t>(slash - path) + 1;
  if (bytes >= sizeof folder) return;
  std::memcpy(folder, path, bytes);
  folder[bytes] = 0;
  // O_PATH: to go through the folder is enough, it need not be readable.
  const int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat status;
  if (!Stat(fd, &status)) {
    close(fd);
    return;
  }
  fd_ = MoveHigh(fd);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  path_bytes_ = bytes;
}

void KeptFolder::Close() {
  struct stat status;
  if (fd_ >= 0 && Stat(fd_, &status) && status.st_dev == device_ && status.st_ino == inode_) {
    close(fd_);
  }
  fd_ = -1;
}

int KeptFolder::At(const char* path, const char** name) const {
  struct stat status;
  *name = path;
  if (fd_ < 0 || !Stat(fd_, &status) || status.st_dev != device_ || status.st_ino != inode_ ||
      status.st_nlink == 0) {
    return AT_FDCWD;
  }
  *name = path + path_bytes_;
  return fd_;
}

int KeptFolder::Open(const char* path, int flags, mode_t mode) {
  const char* name;
  const int at = At(path, &name);
  return openat(at, name, flags, mode);
}

bool KeptFolder::Unlink(const char* path) {
  const char* name;
  const int at = At(path, &name);
  return unlinkat(at, name, 0) == 0;
}

bool KeptFolder::Rename(const char* from, const char* to) {
  const char* from_name;
  const char* to_name;
  const int at = At(from, &from_name);
  const int at_to = At(to, &to_name);
  return renameat(at, from_name, at_to, to_name) == 0;
}

bool KeptFolder::Has(const char* path) {
  const char* name;
  const int at = At(path, &name);
  return faccessat(at, name, F_OK, 0) == 0;
}

}  // namespace gpuprof::codec
