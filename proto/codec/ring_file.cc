// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See ring_file.h. Every offset and size in the file is bounded by the file's own size before it is
// used.

#include "proto/codec/ring_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

#include "proto/codec/open_regular.h"

namespace gpuprof::codec {
namespace {

constexpr long kLockPauseNs = 50'000'000;
constexpr uint64_t kHeaderAlign = 64;

bool Lock(int fd, LockWait* wait) {
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const bool is_busy = errno == EWOULDBLOCK || errno == EINTR;
    if (!is_busy || wait->tries_left <= 0) return false;
    --wait->tries_left;
    const timespec pause = {0, kLockPauseNs};
    nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace

// Headers ask for more alignment than plain new gives.
void RingFile::FreePages::operator()(char* pages) const {
  ::operator delete (pages, std::align_val_t{proto::kPageBytes});
}

RingFile::Pages RingFile::MakePages(uint64_t bytes) {
  return Pages(static_cast<char*>(::operator new (bytes, std::align_val_t{proto::kPageBytes})));
}

RingFile::~RingFile() {
  if (fd_ >= 0) close(fd_);
}

// How many of the bytes are there.
uint64_t RingFile::ReadSome(uint64_t offset, void* to, uint64_t bytes) const {
  char* at = static_cast<char*>(to);
  uint64_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(fd_, at + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<uint64_t>(got);
  }
  return done;
}

RingFile::OpenResult RingFile::Open(const std::string& path, LockWait* wait, std::string* error) {
  path_ = path;
  fd_ = OpenRegular(AT_FDCWD, path.c_str(), O_RDWR | O_NOFOLLOW);
  if (fd_ < 0 && errno == ENOENT) return OpenResult::kMissing;
  if (fd_ < 0) {
    *error = path + ": " + OpenErrorText(errno) +
             (errno == kNotRegular ? "" : "; it must be writable by you");
    return OpenResult::kFailed;
  }
  if (!Lock(fd_, wait)) {
    const bool is_busy = errno == EWOULDBLOCK || errno == EINTR;
    *error = path + ": " +
             (is_busy ? "another gpuprof is finishing it; try again later"
                      : std::string("cannot be locked: ") + std::strerror(errno) +
                            "; copy the bundle to a local disk and try there");
    return is_busy ? OpenResult::kBusy : OpenResult::kFailed;
  }
  struct stat ours;
  struct stat named;
  if (fstat(fd_, &ours) != 0 || lstat(path.c_str(), &named) != 0 || ours.st_ino != named.st_ino ||
      ours.st_dev != named.st_dev)
    return OpenResult::kMissing;  // somebody finished it while we waited
  return ReadAllHeaders(ours, error);
}

RingFile::OpenResult RingFile::OpenToLook(const std::string& path, std::string* error) {
  path_ = path;
  struct stat file;
  fd_ = OpenRegular(AT_FDCWD, path.c_str(), O_RDONLY | O_NOFOLLOW, &file);
  if (fd_ < 0 && errno == ENOENT) return OpenResult::kMissing;
  if (fd_ < 0) {
    *error = path + ": " + OpenErrorText(errno);
    return OpenResult::kFailed;
  }
  return ReadAllHeaders(file, error);
}

RingFile::OpenResult RingFile::ReadAllHeaders(const struct stat& file, std::string* error) {
  if (!ReadHeader(error)) return OpenResult::kFailed;
  ReadDirectory(static_cast<uint64_t>(file.st_size));
  return OpenResult::kOpen;
}

bool RingFile::ReadHeader(std::string* error) {
  header_ = std::make_unique<proto::RingFileHeader>();
  proto::RingFileHeader& header = *header_;
  const std::string keep = "; the trace file beside it was left as it is";
  const uint64_t got = ReadSome(0, &header, sizeof header);
  const char* bytes = reinterpret_cast<const char*>(&header);
  is_blank_ = std::all_of(bytes, bytes + got, [](char byte) { return byte == 0; });
  if (is_blank_) return true;
  // The magic is the last that is filled in, before the first ring is made.
  if (got == sizeof header && header.magic == 0 && header.ring_count.load() == 0 &&
      header.directory[0].offset.load() == 0) {
    is_blank_ = true;
    return true;
  }
  is_damaged_ = got < sizeof header || header.magic != proto::kRingFileMagic;
  if (got < sizeof header) {
    *error = path_ + ": shorter than its header: its records cannot be read" + keep;
    return false;
  }
  header.executable[sizeof header.executable - 1] = 0;
  if (header.magic != proto::kRingFileMagic) {
    *error = path_ + ": not a ring file, or its header is damaged" + keep;
    return false;
  }
  if (header.version != proto::kRingFileVersion) {
    *error = path_ + ": written by another version of gpuprof (ring layout " +
             std::to_string(header.version) + ", this one reads " +
             std::to_string(proto::kRingFileVersion) + "): use the gpuprof that recorded it" + keep;
    return false;
  }
  return true;
}

// Rings that overlap or leave the file are not read, which also bounds all the reading by the
// file's size.
void RingFile::ReadDirectory(uint64_t file_bytes) {
  for (const proto::RingDirectoryEntry& entry : header_->directory) {
    const uint64_t offset = entry.offset.load(std::memory_order_relaxed);
    if (offset == 0) continue;
    if (offset % kHeaderAlign != 0 || offset < sizeof(proto::RingFileHeader) ||
        offset > file_bytes || entry.bytes > file_bytes - offset ||
        entry.bytes < proto::kRingHeaderBytes + proto::kRecordBytes ||
        entry.bytes > proto::kRingHeaderBytes + uint64_t{proto::kMaxRingBytes}) {
      ++damaged_rings_;
      continue;
    }
    places_.push_back({offset, entry.bytes});
  }
  std::sort(places_.begin(), places_.end(),
            [](const Place& x, const Place& y) { return x.offset < y.offset; });
  uint64_t end = 0;
  std::erase_if(places_, [&](const Place& place) {
    const bool overlaps = place.offset < end;
    if (overlaps) ++damaged_rings_;
    if (!overlaps) end = place.offset + place.bytes;
    return overlaps;
  });
}

bool RingFile::IsSane(const proto::RingHeader& ring, const Place& place) const {
  const uint64_t capacity = ring.capacity;
  const uint64_t head = ring.head.load(std::memory_order_relaxed);
  const uint64_t tail = ring.tail.load(std::memory_order_relaxed);
  return ring.magic == proto::kRingMagic && ring.track != 0 && capacity != 0 &&
         (capacity & (capacity - 1)) == 0 &&
         capacity * proto::kRecordBytes <= place.bytes - proto::kRingHeaderBytes && tail <= head &&
         head - tail <= capacity;
}

const proto::RingHeader* RingFile::LoadHeader(size_t index) {
  if (buffer_bytes_ < proto::kRingHeaderBytes) {
    buffer_bytes_ = proto::kRingHeaderBytes;
    buffer_ = MakePages(buffer_bytes_);
  }
  const Place& place = places_[index];
  if (!ReadAll(place.offset, buffer_.get(), proto::kRingHeaderBytes)) return nullptr;
  const auto* ring = reinterpret_cast<const proto::RingHeader*>(buffer_.get());
  return IsSane(*ring, place) ? ring : nullptr;
}

const proto::RingHeader* RingFile::LoadRing(size_t index) {
  const proto::RingHeader* ring = LoadHeader(index);
  if (ring == nullptr) return nullptr;
  const Place& place = places_[index];
  const uint64_t capacity = ring->capacity;
  const uint64_t first = ring->tail.load(std::memory_order_relaxed) & (capacity - 1);
  const uint64_t count =
      ring->head.load(std::memory_order_relaxed) - ring->tail.load(std::memory_order_relaxed);
  const uint64_t needed = proto::kRingHeaderBytes + capacity * proto::kRecordBytes;
  if (buffer_bytes_ < needed) {
    Pages grown = MakePages(needed);
    std::memcpy(grown.get(), buffer_.get(), proto::kRingHeaderBytes);
    buffer_ = std::move(grown);
    buffer_bytes_ = needed;
  }
  const uint64_t until_end = std::min(count, capacity - first);
  const auto load = [&](uint64_t record, uint64_t records) {
    const uint64_t at = proto::kRingHeaderBytes + record * proto::kRecordBytes;
    return ReadAll(place.offset + at, buffer_.get() + at, records * proto::kRecordBytes);
  };
  if (!load(first, until_end) || !load(0, count - until_end)) return nullptr;
  return reinterpret_cast<const proto::RingHeader*>(buffer_.get());
}

bool RingFile::Remove() { return unlink(path_.c_str()) == 0; }

}  // namespace gpuprof::codec
