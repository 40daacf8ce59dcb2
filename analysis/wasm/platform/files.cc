// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Opens files of the page. There are no links, no devices and no files of the kernel among them.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "proto/codec/open_regular.h"

namespace gpuprof::codec {

static_assert(kNotRegular != 0 && kForeignName != 0);

int OpenRegular(int folder, const char* path, int flags, struct stat* status) {
  OwnedFile file(openat(folder, path, flags & ~O_NOFOLLOW));
  struct stat opened;
  if (file.fd() < 0 || fstat(file.fd(), &opened) != 0) return -1;
  if (!S_ISREG(opened.st_mode)) {
    errno = kNotRegular;
    return -1;
  }
  if (status != nullptr) *status = opened;
  return file.Release();
}

std::string OpenErrorText(int error) {
  return error == kNotRegular ? "not a regular file" : std::strerror(error);
}

OwnedFile& OwnedFile::operator=(OwnedFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

int OwnedFile::Release() { return std::exchange(fd_, -1); }

void OwnedFile::Close() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

}  // namespace gpuprof::codec
