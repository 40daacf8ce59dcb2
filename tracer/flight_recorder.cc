// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/flight_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "proto/codec/tables.h"
#include "proto/ticks.h"

namespace gpuprof::tracer {
namespace {

constexpr int kMetaField = 13;
constexpr uint64_t kBeginAgainNs = 1'000'000'000;

}  // namespace

bool FileParts::Add(const char* path, uint64_t bytes, uint64_t rows) {
  if (count == kMost || strlen(path) >= kPathBytes) return false;
  strcpy(part[count].path, path);
  part[count].bytes = bytes;
  part[count].rows = rows;
  part[count++].fd = -1;
  return true;
}

bool FileParts::Open() {
  for (uint32_t i = 0; i < count; ++i) {
    part[i].fd = open(part[i].path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (part[i].fd >= 0) continue;
    const int error = errno;
    Close();
    errno = error;
    return false;
  }
  return true;
}

void FileParts::Close() {
  for (uint32_t i = 0; i < count; ++i) {
    if (part[i].fd >= 0) close(part[i].fd);
    part[i].fd = -1;
  }
}

FlightRecorder::FlightRecorder(const char* stem_path, uint64_t bytes,
                               const proto::FileHeader& header, TicksOfCupti ticks_of_cupti)
    : segment_bytes_(bytes / kSegments),
      header_(header),
      ticks_of_cupti_(std::move(ticks_of_cupti)) {
  strncpy(stem_, stem_path, sizeof(stem_) - 1);
  stem_[sizeof(stem_) - 1] = 0;
  folder_.Keep(stem_);
  writer_.LiveIn(&folder_);
  writer_.WriteNoIndex();  // the file that the segments end in has one
  writer_.AskForRoom(this);
}

// 0 or an errno value. Where it cannot be made, the writer keeps the segment that it has, and its
// counts.
int FlightRecorder::Create() {
  char path[kPathBytes];
  if (!codec::SegmentPath(stem_, next_, path, sizeof(path))) return ENAMETOOLONG;
  if (writer_.Create(path, header_)) return 0;
  if (errno != EEXIST) return errno;
  // Not ours, and recovery would take it for one of ours: it gets out of the way.
  char aside[kPathBytes + 2];
  strcpy(stpcpy(aside, path), "~");
  if (!folder_.Rename(path, aside)) return errno;
  return writer_.Create(path, header_) ? 0 : errno;
}

void FlightRecorder::Begin() {
  // Every block asks for it, and where a disk is full each attempt makes a file and removes it.
  const bool is_early = begin_error_ != 0 && proto::ReadClockNs(CLOCK_MONOTONIC) < begin_again_ns_;
  if (is_early && (writer_.refuses() || !IsAtSize())) return;
  const uint64_t rows_lost = writer_.rows_lost();
  const uint64_t bytes = writer_.bytes_written();
  const Written written = {writer_.file_bytes(), writer_.rows_in_file()};
  begin_error_ = Create();
  // There is so much that the oldest may go, and the next may find room where that was.
  while (begin_error_ != 0 && next_ - oldest_ > 1 && IsAtSize() && LetGoOldest()) {
    begin_error_ = Create();
  }
  if (begin_error_ != 0) {
    begin_again_ns_ = proto::ReadClockNs(CLOCK_MONOTONIC) + kBeginAgainNs;
    writer_.Refuse(IsAtSize() ? begin_error_ : 0);
    return;
  }
  if (next_ != oldest_) written_[(next_ - 1) % kSegments] = written;
  rows_lost_before_ += rows_lost;
  bytes_before_ += bytes;
  ++next_;
  begun_ = true;
  told_until_ = 0;
  // One that had to grow on may make the others too many.
  while (next_ - oldest_ > kSegments || BytesFrom(oldest_ + 1) >= kSegments * segment_bytes_) {
    if (!LetGoOldest()) ++oldest_;
  }
}

// Whether the segments are as much as is to be kept without the oldest, unless that is all there
// is.
bool FlightRecorder::IsAtSize() const {
  if (next_ == oldest_) return false;
  if (next_ - oldest_ == 1) return BytesFrom(oldest_) >= kSegments * segment_bytes_;
  return BytesFrom(oldest_ + 1) >= (kSegments - 1) * segment_bytes_;
}

uint64_t FlightRecorder::BytesFrom(uint32_t number) const {
  uint64_t bytes = 0;
  for (; number != next_; ++number) bytes += WrittenInto(number).bytes;
  return bytes;
}

// Of any event in the segment.
uint64_t FlightRecorder::LastTicks(int fd) const {
  const codec::LastTimes last = codec::LastEventTimes(fd);
  if (last.cupti_ns == 0 || ticks_of_cupti_ == nullptr) return last.ticks;
  return std::max(last.ticks, ticks_of_cupti_(last.cupti_ns));
}

// False: it is still there, or was gone already.
bool FlightRecorder::LetGoOldest() {
  char path[kPathBytes];
  if (!codec::SegmentPath(stem_, oldest_, path, sizeof(path))) return false;
  const int fd = folder_.Open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  const Written written = WrittenInto(oldest_);
  const uint64_t last = fd >= 0 ? LastTicks(fd) : 0;
  const uint64_t rows = written.rows;
  // Where no name may be removed from the bundle, what the file holds can go all the same.
  constexpr off_t kFrontBytes = sizeof(proto::SkippableHeader) + sizeof(proto::FileHeader);
  const bool has_gone = folder_.Unlink(path) || (fd >= 0 && ftruncate(fd, kFrontBytes) == 0);
  if (fd >= 0) close(fd);
  if (!has_gone) return false;
  if (last > let_go_until_) let_go_until_ = last;
  rows_let_go_ += rows;
  ++oldest_;
  return true;
}

// Where the disk stays full it is others who take the room: then no more than one a second goes.
bool FlightRecorder::MakeRoom() {
  const uint32_t count = next_ - oldest_;
  const bool is_newest_whole = writer_.file_bytes() >= segment_bytes_;
  if (count < 2 || (count == 2 && !is_newest_whole)) return false;
  const uint64_t now = proto::ReadClockNs(CLOCK_MONOTONIC);
  const bool helped = bytes_written() != bytes_at_room_;
  if (!helped && now < room_made_ns_ + kBeginAgainNs) return false;
  bytes_at_room_ = bytes_written();
  room_made_ns_ = now;
  const uint64_t rows = WrittenInto(oldest_).rows;
  if (!LetGoOldest()) return false;
  rows_let_go_ -= rows;
  rows_lost_before_ += rows;
  begin_again_ns_ = 0;  // there may be room for the next segment, too
  return true;
}

// Each segment tells it first, and again where the oldest goes while there is no other.
void FlightRecorder::TellLetGo() {
  std::vector<uint8_t> message;
  const uint64_t until = let_go_until_;  // on a full disk telling it may cost the next one
  codec::AppendKeptFrom(until, &message);
  if (writer_.WriteTable(proto::ChunkKind::kMeta, 1, kMetaField, message.data(), message.size(),
                         1)) {
    told_until_ = until;
  }
}

codec::TraceWriter* FlightRecorder::Writer() {
  const bool is_removed = writer_.last_error() == EIDRM;
  if (!writer_.is_open() || is_removed || writer_.file_bytes() >= segment_bytes_) Begin();
  if (let_go_until_ != told_until_ && writer_.is_open()) TellLetGo();
  return &writer_;
}

bool FlightRecorder::TakeBegun() {
  const bool begun = begun_;
  begun_ = false;
  return begun;
}

// The newest may grow meanwhile; of the others nothing more will come.
FlightRecorder::Written FlightRecorder::WrittenInto(uint32_t number) const {
  if (number + 1 != next_) return written_[number % kSegments];
  if (!writer_.is_open()) return {codec::kWholeFile, 0};
  return {writer_.file_bytes(), writer_.rows_in_file()};
}

bool FlightRecorder::AddTo(FileParts* files) const {
  char path[kPathBytes];
  for (uint32_t number = oldest_; number != next_; ++number) {
    const Written written = WrittenInto(number);
    if (!codec::SegmentPath(stem_, number, path, sizeof(path))) return false;
    if (!files->Add(path, written.bytes, written.rows)) return false;
  }
  return true;
}

bool FlightRecorder::JoinInto(codec::TraceWriter* trace, bool leaves_holes) {
  FileParts files;
  if (!AddTo(&files)) return false;
  for (uint32_t i = 0; i < files.count; ++i) {
    const FileParts::Part& part = files.part[i];
    const uint64_t rows_before = trace->rows_in_file();
    codec::CopyResult result = codec::CopyResult::kCutShort;
    const int fd = folder_.Open(part.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    // Where this thread may not open it, whoever recovers may.
    const bool is_seen = fd >= 0 || errno == ENOENT;
    if (fd >= 0) {
      result = codec::CopyBlocks(fd, part.bytes, 0, trace);
      close(fd);
    }
    const uint64_t rows = trace->rows_in_file() - rows_before;
    const bool may_leave_hole = leaves_holes || (is_seen && i + 1 == files.count);
    if (result == codec::CopyResult::kNotWritten ||
        (result == codec::CopyResult::kCutShort && !may_leave_hole)) {
      rows_of_torn_ = rows;
      return false;
    }
    if (result == codec::CopyResult::kCutShort) {
      trace->LeaveHole();
      if (part.rows > rows) rows_lost_before_ += part.rows - rows;
    }
    folder_.Unlink(part.path);
    ++oldest_;
  }
  writer_.Close();
  return true;
}

uint64_t FlightRecorder::Drop() {
  uint64_t rows = 0;
  char path[kPathBytes];
  for (; oldest_ != next_; ++oldest_) {
    rows += WrittenInto(oldest_).rows;
    if (codec::SegmentPath(stem_, oldest_, path, sizeof(path))) folder_.Unlink(path);
  }
  writer_.Close();
  return rows > rows_of_torn_ ? rows - rows_of_torn_ : 0;
}

}  // namespace gpuprof::tracer
