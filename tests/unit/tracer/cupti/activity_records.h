// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Records of CUPTI's, made byte by byte as a library writes them, and the rows that become of them.

#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "proto/codec/trace_writer.h"
#include "proto/schema.h"
#include "tests/unit/codec/codec_test_util.h"
#include "tracer/cupti/activity_sorter.h"

namespace gpuprof::tracer::cupti {

class Bytes {
 public:
  Bytes(Activity kind, size_t size) : bytes_(size) { U32(0, static_cast<uint32_t>(kind)); }
  Bytes& U8(size_t at, uint8_t value) { return Put(at, value); }
  Bytes& U32(size_t at, uint32_t value) { return Put(at, value); }
  Bytes& U64(size_t at, uint64_t value) { return Put(at, value); }
  Bytes& Text(size_t at, const char* text) { return Put(at, text); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  template <typename T>
  Bytes& Put(size_t at, T value) {
    if (at + sizeof(value) <= bytes_.size()) std::memcpy(&bytes_[at], &value, sizeof(value));
    return *this;
  }
  std::vector<uint8_t> bytes_;
};

// CUPTI's stepping through a buffer: here each record says its own length before it.
inline std::vector<size_t> g_lengths;
inline int NextRecord(uint8_t* buffer, size_t valid, void** at) {
  size_t offset = 0;
  for (size_t i = 0; i < g_lengths.size(); ++i) {
    if (*at == nullptr || buffer + offset > *at) {
      *at = buffer + offset;
      return offset < valid ? kSuccess : kMaxLimitReached;
    }
    offset += g_lengths[i];
  }
  return kMaxLimitReached;
}

class Tracks : public ThreadTracks {
 public:
  // An id's later life, where it was given again.
  static constexpr uint32_t kAgain = 50'000;
  void GiveAgain(uint32_t tid, uint64_t time) {
    again_tid_ = tid;
    again_ = time;
  }

  // Each thread ends with its call.
  void EndAtOnce() { is_brief_ = true; }

  Answer TrackAt(uint32_t tid, uint64_t time) override {
    if (is_brief_) return {tid, time, time + 1};
    if (tid != again_tid_) return {tid, 0, UINT64_MAX};
    return time < again_ ? Answer{tid, 0, again_} : Answer{kAgain + tid, again_, UINT64_MAX};
  }
  uint32_t NewTrack() override { return ++last_; }

 private:
  uint32_t again_tid_ = 0;
  uint64_t again_ = 0;
  uint32_t last_ = 100;
  bool is_brief_ = false;
};

class ActivityRecords : public testing::Test {
 protected:
  void Give(const std::vector<Bytes>& records) {
    std::vector<uint8_t> buffer;
    g_lengths.clear();
    for (const Bytes& record : records) {
      buffer.insert(buffer.end(), record.bytes().begin(), record.bytes().end());
      g_lengths.push_back(record.bytes().size());
    }
    sorter_.Consume({buffer.data(), buffer.size(), 0}, NextRecord, names_);
  }

  // Of all tracks, each with its track in front.
  std::vector<std::pair<uint32_t, codec::Row>> Rows(proto::ChunkKind kind) {
    std::vector<std::pair<uint32_t, codec::Row>> rows;
    for (const auto& buffer : sorter_.buffers()) {
      if (buffer->kind() != kind || buffer->count() == 0) continue;
      const codec::TempFolder folder;
      const std::string path = folder / "p1-1.gpt";
      codec::TraceWriter writer;
      EXPECT_TRUE(writer.Create(path.c_str(), codec::TestHeader()));
      const uint32_t track = buffer->track();
      EXPECT_TRUE(writer.WriteEvents(buffer->Encode(), 1, 0));
      writer.Close();
      for (codec::Row& row : codec::ReadRows(codec::ReadBytes(path), track, kind))
        rows.emplace_back(track, std::move(row));
    }
    return rows;
  }

  FunctionNames names_;
  codec::InternTables strings_{100, 100, 10000};
  Tracks tracks_;
  ActivitySorter sorter_{&strings_, &tracks_};
};

}  // namespace gpuprof::tracer::cupti
