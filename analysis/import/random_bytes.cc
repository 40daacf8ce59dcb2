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

#include "analysis/base/memory_limit.h"
#include "analysis/import/byte_source.h"
#include "analysis/import/inflating_source.h"

namespace gpuprof::analysis::import {
namespace {

Result<std::unique_ptr<RandomBytes>> Inflate(const codec::InputPath& path, bool* is_damaged) {
  Result<std::unique_ptr<FileSource>> file = FileSource::Open(path);
  if (!file.ok()) return file.error();
  InflatingSource source(file->get(), path.path);
  const uint64_t limit = DefaultMemoryLimit() / 2;
  std::string bytes;
  while (true) {
    constexpr size_t kPiece = 4 << 20;
    const size_t before = bytes.size();
    if (before > limit) {
      return Unreadable(path.path +
                        ": inflated, it takes more than half of the memory; inflate it with "
                        "`gunzip`, and read the result");
    }
    bytes.resize(before + kPiece);
    Result<size_t> got = source.Read(bytes.data() + before, kPiece);
    if (!got.ok()) return got.error();
    bytes.resize(before + *got);
    if (*got == 0) break;
  }
  *is_damaged = source.is_damaged();
  return std::unique_ptr<RandomBytes>(new HeldBytes(std::move(bytes)));
}

}  // namespace

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

Result<std::unique_ptr<RandomBytes>> OpenRandomBytes(const codec::InputPath& path,
                                                     bool* is_damaged) {
  *is_damaged = false;
  Result<std::unique_ptr<RandomBytes>> file = FileBytesAt::Open(path);
  if (!file.ok()) return file.error();
  char first[2] = {};
  Result<size_t> got = (*file)->ReadAt(0, first, sizeof first);
  if (!got.ok()) return got.error();
  if (std::string_view(first, 2) == "\x1f\x8b") return Inflate(path, is_damaged);
  return std::move(*file);
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
