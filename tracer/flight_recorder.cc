// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/flight_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "proto/codec/tables.h"

namespace gpuprof::tracer {
namespace {

constexpr int kMetaField = 13;

}  // namespace

bool FileParts::Add(const char* path, uint64_t bytes) {
  if (count == kMost || strlen(path) >= kPathBytes) return false;
  strcpy(part[count].path, path);
  part[count].bytes = bytes;
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
                               const proto::FileHeader& header)
    : segment_bytes_(bytes / kSegments), header_(header) {
  strncpy(stem_, stem_path, sizeof(stem_) - 1);
  stem_[sizeof(stem_) - 1] = 0;
}

void FlightRecorder::Begin() {
  char path[kPathBytes];
  const uint64_t rows_lost = writer_.rows_lost();
  const uint64_t bytes = writer_.bytes_written();
  // Where it cannot be made, the writer keeps the segment that it has, and its counts.
  if (!codec::SegmentPath(stem_, next_, path, sizeof(path)) || !writer_.Create(path, header_)) {
    return;
  }
  rows_lost_before_ += rows_lost;
  bytes_before_ += bytes;
  ++next_;
  begun_ = true;
  if (next_ - oldest_ > kSegments) LetGoOldest();
  if (let_go_until_ == 0) return;
  std::vector<uint8_t> message;
  codec::AppendKeptFrom(let_go_until_, &message);
  writer_.WriteTable(proto::ChunkKind::kMeta, 1, kMetaField, message.data(), message.size(), 1);
}

void FlightRecorder::LetGoOldest() {
  char path[kPathBytes];
  if (!codec::SegmentPath(stem_, oldest_++, path, sizeof(path))) return;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd >= 0) {
    const uint64_t last = codec::LastEventTime(fd);
    if (last > let_go_until_) let_go_until_ = last;
    close(fd);
  }
  unlink(path);
}

codec::TraceWriter* FlightRecorder::Writer() {
  if (!writer_.is_open() || writer_.file_bytes() >= segment_bytes_) Begin();
  return &writer_;
}

bool FlightRecorder::TakeBegun() {
  const bool begun = begun_;
  begun_ = false;
  return begun;
}

bool FlightRecorder::AddTo(FileParts* files) const {
  char path[kPathBytes];
  for (uint32_t number = oldest_; number != next_; ++number) {
    // The newest may grow meanwhile; of the others nothing more will come.
    const uint64_t bytes = number + 1 == next_ ? writer_.file_bytes() : codec::kWholeFile;
    if (!codec::SegmentPath(stem_, number, path, sizeof(path))) return false;
    if (!files->Add(path, bytes)) return false;
  }
  return true;
}

bool FlightRecorder::JoinInto(codec::TraceWriter* trace) {
  FileParts files;
  bool joined = AddTo(&files) && files.Open();
  for (uint32_t i = 0; joined && i < files.count; ++i) {
    const uint64_t rows = trace->rows_in_file();
    joined = codec::CopyBlocks(files.part[i].fd, files.part[i].bytes, 0, trace);
    if (joined) unlink(files.part[i].path);
    rows_of_torn_ = joined ? 0 : trace->rows_in_file() - rows;
  }
  files.Close();
  if (joined) writer_.Close();
  return joined;
}

uint64_t FlightRecorder::Drop() {
  uint64_t rows = 0;
  char path[kPathBytes];
  for (; oldest_ != next_; ++oldest_) {
    if (!codec::SegmentPath(stem_, oldest_, path, sizeof(path))) continue;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) continue;  // in the trace
    rows += codec::CountRows(fd, codec::kWholeFile);
    close(fd);
    unlink(path);
  }
  writer_.Close();
  return rows - rows_of_torn_;
}

}  // namespace gpuprof::tracer
