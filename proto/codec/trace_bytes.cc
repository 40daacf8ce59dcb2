// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See trace_bytes.h.

#include "proto/codec/trace_bytes.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gpuprof::codec {
namespace {

// One header is wanted after a step over a block, many bytes where reading goes on.
constexpr uint64_t kFirstBytes = 4096;
constexpr uint64_t kMoreBytes = 256 * 1024;

}  // namespace

void TraceBytes::Use(const uint8_t* data, uint64_t bytes) {
  fd_ = -1;
  size_ = end_ = bytes;
  begin_ = 0;
  window_ = data;
  error_ = 0;
}

void TraceBytes::Use(int fd, uint64_t bytes) {
  fd_ = fd;
  size_ = bytes;
  begin_ = 1;
  end_ = 0;
  error_ = 0;
}

const uint8_t* TraceBytes::Fetch(uint64_t offset, uint64_t bytes) {
  if (fd_ < 0 || offset > size_ || bytes > size_ - offset) return nullptr;
  const bool goes_on = offset > begin_ && offset <= end_;
  const uint64_t wanted =
      std::min(std::max(bytes, goes_on ? kMoreBytes : kFirstBytes), size_ - offset);
  if (capacity_ < wanted || buffer_ == nullptr) {
    begin_ = 1;
    end_ = 0;
    capacity_ = std::max(wanted, kMoreBytes);
    buffer_.reset(new uint8_t[capacity_]);
  }
  uint64_t done = 0;
  while (done < wanted) {
    const ssize_t got =
        pread(fd_, buffer_.get() + done, wanted - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) error_ = got < 0 ? errno : ESTALE;
    if (got <= 0) break;
    done += static_cast<uint64_t>(got);
  }
  window_ = buffer_.get();
  begin_ = offset;
  end_ = offset + done;
  return done >= bytes ? window_ : nullptr;
}

uint64_t TraceBytes::BehindHole(uint64_t offset, uint64_t bytes) const {
  if (fd_ < 0 || Has(offset, bytes)) return offset;
  const off_t data = lseek(fd_, static_cast<off_t>(offset), SEEK_DATA);
  if (data < 0) return errno == ENXIO ? size_ : offset;
  return std::min(static_cast<uint64_t>(data), size_);
}

std::string ReadErrorText(int error) {
  return error == ESTALE ? "it was cut meanwhile" : std::strerror(error);
}

}  // namespace gpuprof::codec
