// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The half that runs inside the recorded process; see join_segments.cc for the other.

#include "proto/codec/segments.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "proto/codec/crc32c.h"
#include "proto/codec/tables.h"
#include "proto/contract.h"
#include "proto/schema.h"

namespace gpuprof::codec {
namespace {

constexpr int kMetaKeptFrom = 22;

constexpr uint64_t kUnreadable = ~uint64_t{0};

// How many of the bytes are there: less only at the end of the file, or kUnreadable.
uint64_t ReadUpTo(int fd, uint64_t offset, void* to, uint64_t bytes) {
  uint64_t done = 0;
  while (done < bytes) {
    const ssize_t n =
        pread(fd, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return kUnreadable;
    if (n == 0) break;
    done += static_cast<uint64_t>(n);
  }
  return done;
}

// Calls visit(header, offset of the body) for each whole block, until it says false. Steps over
// indexes. True: there is nothing behind the last block.
template <typename Visit>
bool VisitBlocks(int fd, uint64_t limit, const Visit& visit) {
  struct {
    proto::SkippableHeader frame;
    proto::BlockHeader header;
  } front;
  static_assert(sizeof front == sizeof front.frame + sizeof front.header);
  uint64_t at = proto::kFirstBlockOffset;
  while (at != limit) {
    const uint64_t there = ReadUpTo(fd, at, &front, std::min<uint64_t>(sizeof front, limit - at));
    if (there == 0 && limit == kWholeFile) return true;
    const proto::BlockHeader& header = front.header;
    if (there != kUnreadable && there >= sizeof front.frame &&
        front.frame.magic == proto::kSkippableIndex &&
        front.frame.bytes <= limit - at - sizeof front.frame) {
      at += sizeof front.frame + front.frame.bytes;
      continue;
    }
    if (there != sizeof front || front.frame.magic != proto::kSkippableBlockHeader ||
        HeaderCrc(header) != header.crc ||
        header.compressed_bytes > proto::kMaxCompressedChunkBytes ||
        header.compressed_bytes > limit - at - sizeof front) {
      return false;
    }
    const uint64_t from = at + sizeof front;
    at = from + header.compressed_bytes;
    if (!visit(header, from)) return false;
  }
  return true;
}

bool IsEvents(const proto::BlockHeader& header) {
  return proto::FindTable(static_cast<proto::ChunkKind>(header.kind)) != nullptr;
}

}  // namespace

bool SegmentPath(const char* stem, uint32_t number, char* path, uint64_t capacity) {
  const int length =
      std::snprintf(path, capacity, "%s.%08x%s", stem, number, proto::kSegmentSuffix);
  return length > 0 && static_cast<uint64_t>(length) < capacity;
}

CopyResult CopyBlocks(int fd, uint64_t limit, uint64_t skip, TraceWriter* to) {
  std::vector<uint8_t> body;
  bool written = true;
  const bool is_whole =
      VisitBlocks(fd, limit, [&](const proto::BlockHeader& header, uint64_t from) {
        if (skip != 0) {
          --skip;
          return true;
        }
        body.resize(header.compressed_bytes);
        if (ReadUpTo(fd, from, body.data(), body.size()) != body.size()) return false;
        written = to->CopyBlock(header, body.data());
        return written;
      });
  if (!written) return CopyResult::kNotWritten;
  return is_whole ? CopyResult::kWhole : CopyResult::kCutShort;
}

LastTimes LastEventTimes(int fd) {
  LastTimes last;
  VisitBlocks(fd, kWholeFile, [&](const proto::BlockHeader& header, uint64_t) {
    if (!IsEvents(header)) return true;
    uint64_t* const of = proto::HasCuptiClock(static_cast<proto::ChunkKind>(header.kind))
                             ? &last.cupti_ns
                             : &last.ticks;
    *of = std::max(*of, header.last_time);
    return true;
  });
  return last;
}

void AppendKeptFrom(uint64_t ticks, std::vector<uint8_t>* message) {
  PbWriter(message).Fixed64(kMetaKeptFrom, ticks);
}

}  // namespace gpuprof::codec
