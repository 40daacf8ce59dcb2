// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What recovery does with the segments that a dead process left. See segments.h.
//
// A segment is removed when all its blocks are in the trace. So after a death in between, the last
// blocks of the trace are the first ones of the oldest segment that is still there.
//
// What is missing (a trace, a segment between others, a part of one that had been finished) leaves
// a hole in the numbers of the trace's blocks: the files that could show it are removed.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "proto/codec/open_regular.h"
#include "proto/codec/segments.h"
#include "proto/codec/tables.h"
#include "proto/codec/trace_reader.h"
#include "proto/codec/trace_state.h"
#include "proto/contract.h"

namespace gpuprof::codec {
namespace {

struct Segment {
  uint32_t number;
  std::string path;
};

// Oldest first. False: the folder cannot be read, see errno.
bool FindSegments(const std::string& stem, std::vector<Segment>* found) {
  const size_t slash = stem.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : stem.substr(0, slash);
  const std::string prefix = (slash == std::string::npos ? stem : stem.substr(slash + 1)) + ".";
  DIR* open = opendir(folder.c_str());
  if (open == nullptr) return errno == ENOENT;
  while (const dirent* entry = readdir(open)) {
    const std::string name = entry->d_name;
    constexpr size_t kDigits = 8;
    if (name.size() != prefix.size() + kDigits + std::strlen(proto::kSegmentSuffix) ||
        name.compare(0, prefix.size(), prefix) != 0 ||
        name.compare(prefix.size() + kDigits, std::string::npos, proto::kSegmentSuffix) != 0) {
      continue;
    }
    const std::string digits = name.substr(prefix.size(), kDigits);
    if (digits.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    found->push_back(
        {static_cast<uint32_t>(std::strtoul(digits.c_str(), nullptr, 16)), folder + "/" + name});
  }
  closedir(open);
  std::sort(found->begin(), found->end(),
            [](const Segment& a, const Segment& b) { return a.number < b.number; });
  return true;
}

// A trace file and its blocks.
struct Contents {
  OwnedFile file;
  TraceBytes bytes;
  TraceScan scan;

  // False: it cannot be read, see errno.
  bool Open(const std::string& path) {
    struct stat status;
    file = OwnedFile(OpenRegular(AT_FDCWD, path.c_str(), O_RDONLY | O_NOFOLLOW, &status));
    if (file.fd() < 0) return false;
    bytes.Use(file.fd(), static_cast<uint64_t>(status.st_size));
    return true;
  }
  // False: it does not begin like a trace.
  bool ScanAll() { return Scan(&bytes, &scan); }
  bool Read(const std::string& path) { return Open(path) && ScanAll(); }
  bool SameBlock(size_t ours, Contents* other, size_t theirs) {
    const BlockRef& a = scan.blocks[ours];
    const BlockRef& b = other->scan.blocks[theirs];
    if (a.header.kind != b.header.kind || a.header.track != b.header.track ||
        a.header.ring_end != b.header.ring_end ||
        a.header.compressed_bytes != b.header.compressed_bytes)
      return false;
    const uint8_t* const body = bytes.At(a.offset, a.header.compressed_bytes);
    const uint8_t* const other_body = other->bytes.At(b.offset, b.header.compressed_bytes);
    return body != nullptr && other_body != nullptr &&
           std::memcmp(body, other_body, a.header.compressed_bytes) == 0;
  }
};

// How many of the segment's first blocks are the trace's last.
size_t BlocksThere(Contents* trace, Contents* segment) {
  const size_t in_trace = trace->scan.blocks.size();
  for (size_t count = std::min(in_trace, segment->scan.blocks.size()); count > 0; --count) {
    size_t same = 0;
    while (same < count && trace->SameBlock(in_trace - count + same, segment, same)) ++same;
    if (same == count) return count;
  }
  return 0;
}

class Joiner {
 public:
  Joiner(const std::string& stem, std::vector<Segment> segments, uint64_t blocks)
      : trace_path_(stem + proto::kTraceSuffix), segments_(std::move(segments)), blocks_(blocks) {}

  bool Run(std::string* error) {
    TraceState state;
    if (!ReadTraceState(trace_path_, &state, error)) return false;
    if (!state.has_end && !AreFiles(error)) return false;
    if (!state.has_end && !Join(state)) {
      *error = trace_path_ + ": " + ReadErrorText(errno) +
               "; what was not written yet is still in " + segments_.front().path +
               " and those after it. Make room, or make the file writable, and run `gpuprof "
               "recover`";
      return false;
    }
    writer_.Close();
    for (const Segment& segment : segments_) unlink(segment.path.c_str());
    return true;
  }

 private:
  // Before anything is written: what is no file holds no blocks, and is not ours to remove.
  bool AreFiles(std::string* error) const {
    for (const Segment& segment : segments_) {
      struct stat status;
      if (lstat(segment.path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) continue;
      *error = segment.path + ": " + OpenErrorText(kNotRegular) +
               "; remove it and run `gpuprof recover`";
      return false;
    }
    return true;
  }

  bool Join(const TraceState& state) {
    uint64_t skip = 0;
    if (state.exists && state.readable_bytes != 0) {
      Contents trace, oldest;
      if (trace.Read(trace_path_) && oldest.Read(segments_.front().path)) {
        skip = BlocksThere(&trace, &oldest);
      }
      if (!CanBeRead(trace) || !CanBeRead(oldest)) return false;
      if (!writer_.Continue(trace_path_.c_str(), state.readable_bytes, state.next_sequence,
                            state.blocks, state.rows)) {
        return false;
      }
    } else if (!BeginTrace()) {
      return false;
    }
    writer_.ExpectBlocks(blocks_);
    return CopyAll(skip);
  }

  // The trace is gone: what names events is, too, but not the events.
  bool BeginTrace() {
    Contents oldest;
    for (const Segment& segment : segments_) {
      if (!oldest.Read(segment.path)) continue;
      unlink(trace_path_.c_str());
      if (!writer_.Create(trace_path_.c_str(), oldest.scan.header)) return false;
      writer_.LeaveHole();
      return true;
    }
    return true;
  }

  // The blocks behind a damaged stretch, too: with the segment they would be gone.
  bool CopySegment(const Segment& segment, uint64_t skip, bool* is_whole) {
    Contents contents;
    if (!contents.Open(segment.path)) return false;
    *is_whole = contents.ScanAll();
    if (!*is_whole) return CanBeRead(contents) && CopyHeadless(contents, skip);
    *is_whole = contents.scan.faults.empty();
    for (size_t i = skip; i < contents.scan.blocks.size(); ++i) {
      const BlockRef& block = contents.scan.blocks[i];
      const uint8_t* const body = contents.bytes.At(block.offset, block.header.compressed_bytes);
      if (body == nullptr) break;
      if (!writer_.CopyBlock(block.header, body)) return false;
    }
    return CanBeRead(contents);
  }

  // A segment that cannot be read now stays where it is.
  static bool CanBeRead(const Contents& contents) {
    errno = contents.bytes.error();
    return errno == 0;
  }

  // What follows a header that is torn may be whole.
  bool CopyHeadless(const Contents& segment, uint64_t skip) {
    return CopyBlocks(segment.file.fd(), kWholeFile, skip, &writer_) != CopyResult::kNotWritten;
  }

  bool CopyAll(uint64_t skip) {
    uint32_t expected = segments_.front().number;
    for (const Segment& segment : segments_) {
      if (segment.number != expected) writer_.LeaveHole();
      expected = segment.number + 1;
      bool is_whole = true;
      if (!CopySegment(segment, skip, &is_whole)) return false;
      // The newest was being written when its process died.
      if (!is_whole && segment.number != segments_.back().number) writer_.LeaveHole();
      unlink(segment.path.c_str());
      skip = 0;
    }
    return true;
  }

  std::string trace_path_;
  std::vector<Segment> segments_;
  uint64_t blocks_;
  TraceWriter writer_;
};

}  // namespace

std::string CheckSegments(const std::string& stem) {
  std::vector<Segment> segments;
  if (!FindSegments(stem, &segments) || segments.empty()) return "";
  uint64_t missing = 0;
  uint64_t damaged = 0;
  uint32_t expected = segments.front().number;
  for (const Segment& segment : segments) {
    missing += segment.number - expected;
    expected = segment.number + 1;
    if (segment.number == segments.back().number) break;
    Contents contents;
    if (!contents.Read(segment.path) || !contents.scan.faults.empty()) ++damaged;
  }
  std::string text;
  if (missing != 0) {
    text = std::to_string(missing) + (missing == 1 ? " segment is" : " segments are") + " missing";
  }
  if (damaged != 0) {
    text += (text.empty() ? "" : ", ") + std::to_string(damaged) +
            (damaged == 1 ? " segment is" : " segments are") + " cut or damaged";
  }
  return text;
}

std::vector<std::string> ListSegments(const std::string& stem) {
  std::vector<Segment> segments;
  std::vector<std::string> paths;
  if (!FindSegments(stem, &segments)) return paths;
  for (Segment& segment : segments) paths.push_back(std::move(segment.path));
  return paths;
}

bool JoinSegments(const std::string& stem, uint64_t blocks, std::string* error) {
  std::vector<Segment> segments;
  if (!FindSegments(stem, &segments)) {
    *error = stem + ": the folder cannot be read: " + std::strerror(errno);
    return false;
  }
  return segments.empty() || Joiner(stem, std::move(segments), blocks).Run(error);
}

}  // namespace gpuprof::codec
