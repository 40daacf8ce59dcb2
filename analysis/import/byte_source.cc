// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See byte_source.h.

#include "analysis/import/byte_source.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace gpuprof::analysis::import {

Result<size_t> MemorySource::Read(char* to, size_t most) {
  const size_t bytes = std::min({most, piece_, bytes_.size()});
  if (bytes != 0) std::memcpy(to, bytes_.data(), bytes);
  bytes_.remove_prefix(bytes);
  return bytes;
}

Result<std::unique_ptr<FileSource>> FileSource::Open(const codec::InputPath& path) {
  codec::OwnedFile file(codec::OpenInput(path));
  if (file.fd() < 0) {
    const int cause = errno;
    std::string message = path.path + ": " + codec::OpenErrorText(cause);
    if (cause == ENOENT || cause == ENOTDIR) message += "; name an existing file";
    if (cause == EACCES) message += "; read it as a user who may";
    return Unreadable(std::move(message));
  }
  return std::unique_ptr<FileSource>(new FileSource(std::move(file), path.path));
}

Result<size_t> FileSource::Read(char* to, size_t most) {
  // The kernel reads at most 2 GiB in a call.
  most = std::min<size_t>(most, size_t{1} << 30);
  while (true) {
    const ssize_t got = read(file_.fd(), to, most);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) {
      return Unreadable(path_ + ": reading failed: " + codec::OpenErrorText(errno) +
                        "; check the disk and read the file again");
    }
  }
}

}  // namespace gpuprof::analysis::import
