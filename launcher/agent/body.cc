// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See body.h.

#include "launcher/agent/body.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace gpuprof::launcher {

void Body::Add(std::string bytes) {
  size_ += bytes.size();
  Part part;
  part.length = bytes.size();
  part.bytes = std::move(bytes);
  parts_.push_back(std::move(part));
}

void Body::AddFile(std::shared_ptr<const codec::OwnedFile> file, uint64_t length) {
  size_ += length;
  Part part;
  part.file = std::move(file);
  part.length = length;
  parts_.push_back(std::move(part));
}

void Body::AddInFront(std::string bytes) {
  Body all;
  all.Add(std::move(bytes));
  all.Append(std::move(*this));
  *this = std::move(all);
}

void Body::Append(Body other) {
  size_ += other.size_;
  std::move(other.parts_.begin(), other.parts_.end(), std::back_inserter(parts_));
}

int64_t Body::Take(char* room, size_t most) {
  while (part_ < parts_.size() && offset_ == parts_[part_].length) {
    parts_[part_] = {};
    ++part_;
    offset_ = 0;
  }
  if (part_ == parts_.size() || most == 0) return 0;
  const Part& part = parts_[part_];
  const size_t wanted = static_cast<size_t>(std::min<uint64_t>(most, part.length - offset_));
  if (part.file == nullptr) {
    std::memcpy(room, part.bytes.data() + offset_, wanted);
    offset_ += wanted;
    return static_cast<int64_t>(wanted);
  }
  ssize_t got = -1;
  do {
    got = pread(part.file->fd(), room, wanted, static_cast<off_t>(offset_));
  } while (got < 0 && errno == EINTR);
  // A file that was cut meanwhile cannot be sent as it was told.
  if (got <= 0) return -1;
  offset_ += static_cast<uint64_t>(got);
  return got;
}

}  // namespace gpuprof::launcher
