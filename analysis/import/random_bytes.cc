// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See random_bytes.h.

#include "analysis/import/random_bytes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace gpuprof::analysis::import {

Result<std::unique_ptr<RandomBytes>> FileBytesAt::Open(const codec::InputPath& path) {
  struct stat status {};
  codec::OwnedFile file(codec::OpenInput(path, &status));
  if (file.fd() < 0) {
    const int cause = errno;
    std::string message = path.path + ": " + codec::OpenErrorText(cause);
    if (cause == ENOENT || cause == ENOTDIR) message += "; name an existing file";
    if (cause == EACCES) message += "; read it as a user who may";
    return Unreadable(std::move(message));
  }
  return std::unique_ptr<RandomBytes>(
      new FileBytesAt(std::move(file), path.path, static_cast<uint64_t>(status.st_size)));
}

Result<size_t> FileBytesAt::ReadAt(uint64_t at, char* to, size_t most) const {
  size_t done = 0;
  while (done < most && at + done < size_) {
    const ssize_t got = pread(file_.fd(), to + done, most - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Unreadable(path_ + ": reading failed: " + codec::OpenErrorText(errno) +
                        "; check the disk and read the file again");
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Result<size_t> HeldBytes::ReadAt(uint64_t at, char* to, size_t most) const {
  if (at >= bytes_.size()) return size_t{0};
  const size_t bytes = std::min<uint64_t>(most, bytes_.size() - at);
  std::memcpy(to, bytes_.data() + at, bytes);
  return bytes;
}

ByteWindow::ByteWindow(const RandomBytes* file, size_t bytes)
    : file_(file), room_(bytes), buffer_(new char[bytes]) {}

std::string_view ByteWindow::Move(uint64_t at, size_t least) {
  const uint64_t end = begin_ + size_;
  if (at >= begin_ && at <= end && end == file_->size())
    return {buffer_.get() + (at - begin_), end - at};
  begin_ = at;
  size_ = 0;
  if (least > room_ && room_ < kBytes) {
    room_ = std::min(least, kBytes);
    buffer_.reset(new char[room_]);
  }
  Result<size_t> got = file_->ReadAt(at, buffer_.get(), room_);
  if (got.ok()) {
    size_ = *got;
  } else if (!error_) {
    error_ = got.error();
  }
  return {buffer_.get(), size_};
}

}  // namespace gpuprof::analysis::import
