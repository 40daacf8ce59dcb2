// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The container's walk: header by header, nothing decompressed. A damaged stretch is reported and
// stepped over by looking for the next block header whose checksum holds, so that one bad byte does
// not cost what follows it. Reads only; any thread.

#include <algorithm>
#include <cstring>

#include "proto/codec/crc32c.h"
#include "proto/codec/index_reader.h"
#include "proto/codec/trace_bytes.h"
#include "proto/codec/trace_reader.h"

namespace gpuprof::codec {
namespace {

using proto::SkippableHeader;

constexpr size_t kMostFaults = 1000;
// A file made for it could have the walk return again and again.
constexpr size_t kMostTakenBack = 10'000;

// Name of a version for a person: 1.0.
std::string Version(uint16_t major, uint16_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

bool IsSkippable(uint32_t magic) { return (magic & 0xfffffff0u) == proto::kSkippableFileHeader; }

class Scanner {
 public:
  Scanner(TraceBytes* data, TraceScan* scan) : data_(data), bytes_(data->size()), scan_(scan) {}

  bool FileHeader();
  bool TakeIndex();
  void Walk();

 private:
  uint64_t left() const { return bytes_ - at_; }
  bool Fault(uint64_t offset, std::string what);
  template <typename Struct>
  bool Copy(uint64_t at, Struct* to) const;
  template <typename Header>
  bool Read(const SkippableHeader& frame, Header* header);
  bool Element();
  bool Block(const SkippableHeader& frame);
  bool End(const SkippableHeader& frame);
  void CheckSequence(uint32_t sequence, uint64_t offset);
  bool FindFrame(uint64_t end, uint64_t* at) const;
  bool IsWhole(uint64_t at, bool is_header_enough) const;
  bool FindWhole(uint64_t from, uint64_t* found) const;
  bool HasHeaderInside(uint64_t body, uint64_t end) const;
  bool IsLastOverrun() const;
  bool TakeBackOverruns();

  TraceBytes* data_;
  uint64_t bytes_;
  TraceScan* scan_;
  uint64_t at_ = 0;
  // Since where element has followed element, and what was readable before.
  uint64_t run_begin_ = 0;
  uint64_t readable_before_run_ = 0;
  size_t taken_back_ = 0;
};

// Always false, for `return Fault(...)`.
bool Scanner::Fault(uint64_t offset, std::string what) {
  if (scan_->faults.size() < kMostFaults) scan_->faults.push_back({offset, std::move(what)});
  return false;
}

// False: not all of it is there.
template <typename Struct>
bool Scanner::Copy(uint64_t at, Struct* to) const {
  const uint8_t* const from = data_->At(at, sizeof(Struct));
  if (from != nullptr) std::memcpy(to, from, sizeof(Struct));
  return from != nullptr;
}

// The struct inside the skippable frame at at_; false with a fault if it is not whole. Its size is
// fixed within a major version, so a frame that gives another one is itself what is damaged.
template <typename Header>
bool Scanner::Read(const SkippableHeader& frame, Header* header) {
  if (left() < sizeof frame + sizeof(Header) || !Copy(at_ + sizeof frame, header))
    return Fault(at_, "cut inside a header");
  if (HeaderCrc(*header) != header->crc) return Fault(at_, "header checksum differs");
  if (frame.bytes != sizeof(Header)) Fault(at_, "header's frame gives a wrong size");
  return true;
}

bool Scanner::FileHeader() {
  SkippableHeader frame;
  proto::FileHeader& header = scan_->header;
  if (!Copy(0, &frame) || !Copy(sizeof frame, &header))
    return Fault(0, "not a gpuprof trace: shorter than its header");
  if (std::memcmp(header.magic, proto::kDraftMagic, sizeof header.magic) == 0)
    return Fault(0, "written by a gpuprof from before format 1.0: record again with this gpuprof");
  if (std::memcmp(header.magic, proto::kFileMagic, sizeof header.magic) != 0)
    return Fault(0, "not a gpuprof trace: its first bytes are others");
  // A damaged header's version means nothing, unless it is a later version that moved the checksum.
  const bool has_version = HeaderCrc(header) == header.crc || frame.bytes != sizeof header;
  if (has_version && header.major > proto::kFormatMajor) {
    return Fault(0, "written in format " + Version(header.major, header.minor) +
                        "; this program reads up to " + std::to_string(proto::kFormatMajor) +
                        ".x: use a newer gpuprof");
  }
  if (has_version && header.major < proto::kOldestReadableMajor) {
    return Fault(0, "written in format " + Version(header.major, header.minor) +
                        "; this program reads from " + std::to_string(proto::kOldestReadableMajor) +
                        ".0 on: use an older gpuprof");
  }
  if (frame.magic != proto::kSkippableFileHeader) Fault(0, "file header's frame is damaged");
  if (Read(frame, &header) && (header.features & ~proto::kKnownFeatures) != 0)
    return Fault(0, "uses features that this program does not know: use a newer gpuprof");
  at_ = sizeof frame + sizeof header;
  scan_->readable_bytes = at_;
  return true;
}

void Scanner::CheckSequence(uint32_t sequence, uint64_t offset) {
  const uint64_t expected =
      scan_->blocks.empty() ? 0 : uint64_t{scan_->blocks.back().header.sequence} + 1;
  if (sequence != expected) {
    Fault(offset, "block " + std::to_string(expected) + " was expected here, block " +
                      std::to_string(sequence) + " found: bytes were lost");
  }
}

bool Scanner::Block(const SkippableHeader& frame) {
  BlockRef block = {};
  if (!Read(frame, &block.header)) return false;
  const proto::BlockHeader& header = block.header;
  block.offset = at_ + sizeof frame + sizeof(proto::BlockHeader);
  const uint64_t there = bytes_ - block.offset;
  if (header.compressed_bytes > there) {
    return Fault(at_, "block cut: " + std::to_string(there) + " of its " +
                          std::to_string(header.compressed_bytes) + " bytes are there");
  }
  if (!proto::IsWithinLimits(header)) return Fault(at_, "block header beyond the format's limits");
  CheckSequence(header.sequence, at_);
  scan_->blocks.push_back(block);
  at_ = block.offset + header.compressed_bytes;
  return true;
}

bool Scanner::End(const SkippableHeader& frame) {
  proto::EndMarker end = {};
  if (!Read(frame, &end)) return false;
  scan_->has_end = true;
  scan_->end = end;
  if (end.blocks != scan_->blocks.size()) {
    Fault(at_, "the end marker counts " + std::to_string(end.blocks) + " blocks, " +
                   std::to_string(scan_->blocks.size()) + " are there");
  }
  at_ += sizeof frame + sizeof end;
  if (left() != 0) Fault(at_, "bytes behind the end marker");
  return true;
}

// One frame at at_, which moves behind it. False: damaged, and a fault says how.
bool Scanner::Element() {
  SkippableHeader frame;
  if (!Copy(at_, &frame)) return Fault(at_, "cut inside a header");
  if (frame.magic == proto::kSkippableBlockHeader) return Block(frame);
  if (frame.magic == proto::kSkippableEnd) return End(frame);
  if (!IsSkippable(frame.magic)) return Fault(at_, "no block header where one should be");
  if (frame.bytes > left() - sizeof frame) return Fault(at_, "cut inside a header");
  at_ += sizeof frame + frame.bytes;  // a kind of header that is younger than this reader
  return true;
}

// Whether a whole block or end marker stands at `at`, or with `is_header_enough` the header of one;
// `at` is before the end by a frame at least.
bool Scanner::IsWhole(uint64_t at, bool is_header_enough) const {
  SkippableHeader frame;
  if (!Copy(at, &frame)) return false;
  const uint64_t there = bytes_ - at - sizeof frame;
  if (frame.bytes > there) return false;
  if (frame.magic == proto::kSkippableBlockHeader && frame.bytes == sizeof(proto::BlockHeader)) {
    proto::BlockHeader header;
    return Copy(at + sizeof frame, &header) && HeaderCrc(header) == header.crc &&
           proto::IsWithinLimits(header) &&
           (is_header_enough || header.compressed_bytes <= there - frame.bytes);
  }
  if (frame.magic == proto::kSkippableEnd && frame.bytes == sizeof(proto::EndMarker)) {
    proto::EndMarker end;
    return Copy(at + sizeof frame, &end) && HeaderCrc(end) == end.crc;
  }
  return false;
}

// Moves `at` to the next bytes, before `end`, that may be the frame of a block or of an end marker.
// False: there are none. Holes are stepped over: a file may be made of nothing else.
bool Scanner::FindFrame(uint64_t end, uint64_t* at) const {
  constexpr uint64_t kStep = 64 * 1024;
  constexpr uint8_t kSecond = (proto::kSkippableEnd >> 8) & 0xff;
  static_assert((proto::kSkippableBlockHeader >> 8) == (proto::kSkippableEnd >> 8));
  while (*at < end && *at + sizeof(SkippableHeader) <= bytes_) {
    *at = data_->BehindHole(*at, std::min(kStep, bytes_ - *at));
    const uint64_t step = std::min(kStep, bytes_ - *at);
    const uint8_t* const data = step < sizeof(SkippableHeader) ? nullptr : data_->At(*at, step);
    if (data == nullptr) return false;
    const void* const second = std::memchr(data + 1, kSecond, step - 1);
    if (second != nullptr) {
      *at += static_cast<uint64_t>(static_cast<const uint8_t*>(second) - data) - 1;
      return *at < end && *at + sizeof(SkippableHeader) <= bytes_;
    }
    *at += step - 1;
  }
  return false;
}

// The next whole block or end marker from `from` on.
bool Scanner::FindWhole(uint64_t from, uint64_t* found) const {
  for (uint64_t at = from; FindFrame(bytes_, &at); ++at) {
    if (!IsWhole(at, false)) continue;
    *found = at;
    return true;
  }
  return false;
}

bool Scanner::HasHeaderInside(uint64_t body, uint64_t end) const {
  for (uint64_t at = body; FindFrame(end, &at); ++at) {
    if (IsWhole(at, true)) return true;
  }
  return false;
}

// Of a block that lost bytes, what comes behind it lies where its body should be.
bool Scanner::IsLastOverrun() const {
  if (scan_->blocks.empty()) return false;
  const BlockRef& last = scan_->blocks.back();
  const uint64_t end = last.offset + last.header.compressed_bytes;
  return end == at_ && HasHeaderInside(last.offset, end);
}

// Where a block should end that lost bytes, nothing begins. So here, where no element follows or
// the file ends (which says as little: the readable part reads the same with and without what is
// behind it), the walk returns to before the blocks that reach here and hold the beginning of
// another one.
bool Scanner::TakeBackOverruns() {
  const uint64_t until = at_;
  while (taken_back_ < kMostTakenBack && IsLastOverrun()) {
    ++taken_back_;
    at_ = scan_->blocks.back().offset - sizeof(SkippableHeader) - sizeof(proto::BlockHeader);
    scan_->blocks.pop_back();
    while (!scan_->faults.empty() && scan_->faults.back().offset >= at_) scan_->faults.pop_back();
  }
  if (at_ == until) return false;
  scan_->readable_bytes = at_ == run_begin_ ? readable_before_run_ : at_;
  Fault(at_, "block cut: the next one begins inside it");
  return true;
}

// Takes the blocks from the index. False: there is none to go by, and nothing has changed.
bool Scanner::TakeIndex() {
  IndexContents index;
  if (!scan_->faults.empty() || ReadIndex(data_, &index) != nullptr) return false;
  for (const BlockRef& block : index.blocks) {
    CheckSequence(block.header.sequence, block.offset - proto::kBlockFrontBytes);
    scan_->blocks.push_back(block);
  }
  scan_->is_by_index = true;
  scan_->has_end = true;
  scan_->end = index.end;
  scan_->readable_bytes = bytes_;
  return true;
}

void Scanner::Walk() {
  for (;;) {
    run_begin_ = at_;
    readable_before_run_ = scan_->readable_bytes;
    while (left() != 0 && Element()) scan_->readable_bytes = at_;
    if (!TakeBackOverruns() && left() == 0) return;
    if (!FindWhole(at_ + 1, &at_)) return;
  }
}

}  // namespace

bool Scan(TraceBytes* data, TraceScan* scan) {
  *scan = TraceScan();
  Scanner scanner(data, scan);
  if (!scanner.FileHeader()) return false;
  scanner.Walk();
  return true;
}

bool ScanByIndex(TraceBytes* data, TraceScan* scan) {
  *scan = TraceScan();
  Scanner scanner(data, scan);
  if (!scanner.FileHeader()) return false;
  if (!scanner.TakeIndex()) scanner.Walk();
  return true;
}

bool ScanFileHeader(TraceBytes* data, TraceScan* scan) {
  *scan = TraceScan();
  return Scanner(data, scan).FileHeader();
}

bool Scan(const uint8_t* data, uint64_t bytes, TraceScan* scan) {
  TraceBytes whole(data, bytes);
  return Scan(&whole, scan);
}

}  // namespace gpuprof::codec
