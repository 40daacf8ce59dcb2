// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that make a stream, or a thread, for each request: what has gone takes next to no
// memory, and all rows are on the tracks of whoever they are of.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "proto/trace.pb.h"
#include "tests/unit/tracer/cupti/activity_records.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint64_t kTime = 1'750'000'000'000'000'000;
constexpr uint32_t kMany = 100'000, kBatch = 500;
constexpr uint32_t kRuntimeId = 211;

Bytes Kernel(uint32_t stream, uint32_t correlation) {
  return Bytes(Activity::kConcurrentKernel, 216)
      .U64(kernel::kStart, kTime + correlation * 100)
      .U64(kernel::kEnd, kTime + correlation * 100 + 64)
      .U32(kernel::kContext, 1)
      .U32(kernel::kStream, stream)
      .U32(kernel::kCorrelation, correlation)
      .Text(kernel::kName, "k");
}

Bytes Copy(uint32_t stream, uint32_t correlation) {
  return Bytes(Activity::kMemcpy, 64)
      .U64(copy::kStart, kTime + correlation * 100)
      .U64(copy::kEnd, kTime + correlation * 100 + 32)
      .U32(copy::kContext, 1)
      .U32(copy::kStream, stream)
      .U32(copy::kCorrelation, correlation)
      .U64(copy::kBytes, 4096);
}

Bytes Launch(uint32_t tid, uint32_t correlation, uint64_t time) {
  return Bytes(Activity::kRuntime, 40)
      .U32(api::kCallbackId, kRuntimeId)
      .U64(api::kStart, time)
      .U64(api::kEnd, time + 50)
      .U32(api::kThread, tid)
      .U32(api::kCorrelation, correlation);
}

class Requests : public ActivityRecords {
 protected:
  Requests() {
    names_.name[kRuntimeApi][kRuntimeId] = "cudaLaunchKernel_v7000";
    names_.is_recorded[kRuntimeApi][kRuntimeId] = true;
  }

  // As the drain does it: what waits becomes chunks, which are read again.
  void Write() {
    most_buffers_ = std::max(most_buffers_, sorter_.buffers().size());
    std::vector<uint8_t> table;
    sorter_.TakeStreams(&table);
    proto::Streams streams;
    ASSERT_TRUE(streams.ParseFromArray(table.data(), static_cast<int>(table.size())));
    for (const proto::Stream& s : streams.stream()) {
      streams_[s.track()] = s.stream();
      handles_[s.track()] = s.handle();
    }
    std::vector<uint8_t> out;
    for (const auto& buffer : sorter_.buffers()) {
      if (buffer->count() == 0) {
        buffer->GiveMemoryBack();
        continue;
      }
      buffer->Encode()->Finish(1, &out);
      buffer->RowsAreWritten();
    }
    most_bytes_ = std::max(most_bytes_, sorter_.memory_bytes());
    sorter_.RowsAreWritten();
    proto::Trace trace;
    ASSERT_TRUE(trace.ParseFromArray(out.data(), static_cast<int>(out.size())));
    constexpr size_t kCorrelation = 3;
    for (const proto::Chunk& chunk : trace.chunk()) {
      for (const codec::Row& row : codec::RowsOf(chunk))
        rows_[chunk.kind()].emplace_back(row[kCorrelation], chunk.track());
    }
  }
  // Correlation and track of each row, by the former.
  std::vector<std::pair<uint64_t, uint32_t>> Written(proto::ChunkKind kind) {
    auto rows = rows_[static_cast<uint32_t>(kind)];
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  std::set<uint32_t> TracksOf(uint32_t stream) const {
    std::set<uint32_t> tracks;
    for (const auto& [track, known] : streams_) {
      if (known == stream) tracks.insert(track);
    }
    return tracks;
  }

  std::map<uint32_t, uint32_t> streams_;  // by track
  std::map<uint32_t, uint64_t> handles_;
  std::map<uint32_t, std::vector<std::pair<uint64_t, uint32_t>>> rows_;  // by kind
  size_t most_buffers_ = 0;
  uint64_t most_bytes_ = 0;
};

TEST_F(Requests, StreamsThatHaveGoneTakeNextToNoMemory) {
  constexpr uint32_t kFirst = 100, kBusy = 7, kResting = 8;
  std::vector<uint32_t> stream_of = {0};  // by correlation
  std::vector<Bytes> records;
  const auto use = [&](uint32_t stream) {
    const auto correlation = static_cast<uint32_t>(stream_of.size());
    records.push_back(Kernel(stream, correlation));
    records.push_back(Copy(stream, correlation));
    stream_of.push_back(stream);
  };
  use(kResting);
  for (uint32_t i = 0; i < kMany; ++i) {
    use(kFirst + i);
    if (i % kBatch != kBatch - 1) continue;
    use(kBusy);
    Give(records);
    records.clear();
    Write();
  }
  use(kResting);
  Give(records);
  Write();
  EXPECT_LE(most_buffers_, 2 * (StreamTable::kManyWithBuffers + kBatch + 2));
  EXPECT_LT(most_bytes_, 8u << 20);
  for (const auto kind : {proto::ChunkKind::kKernel, proto::ChunkKind::kMemcpy}) {
    const auto written = Written(kind);
    ASSERT_EQ(written.size(), stream_of.size() - 1);
    for (const auto& [correlation, track] : written)
      ASSERT_EQ(streams_[track], stream_of[correlation]) << "kernel and copy on their stream";
  }
  EXPECT_EQ(TracksOf(kBusy).size(), 1u);
  EXPECT_EQ(TracksOf(kResting).size(), 2u);
  EXPECT_GT(sorter_.streams_forgotten(), 0u) << "which is counted";
  EXPECT_LT(sorter_.streams_forgotten(), kMany);
}

TEST_F(Requests, AStreamThatGoesOnHasTheTrackThatItHad) {
  constexpr uint32_t kResting = 8, kOthers = 5000;
  Give({Kernel(kResting, 1)});
  Write();
  for (uint32_t i = 0; i < kOthers; ++i) {
    Give({Kernel(100 + i, 2 + i)});
    if (i % kBatch == 0) Write();
  }
  Write();
  EXPECT_LT(sorter_.buffers().size(), kOthers / 2) << "of most there is no buffer any more";
  auto queue = std::make_unique<StreamEvents>();
  bool is_crowded = false;
  ASSERT_TRUE(queue->Put({0x700, 1000, 1, kResting}, &is_crowded));
  sorter_.TakeHandles(queue.get());
  Give({Kernel(kResting, 2 + kOthers)});
  Write();
  const auto written = Written(proto::ChunkKind::kKernel);
  ASSERT_EQ(written.size(), kOthers + 2);
  EXPECT_EQ(written.back().second, written.front().second);
  EXPECT_EQ(TracksOf(kResting).size(), 1u);
  EXPECT_EQ(handles_[written.front().second], 0x700u) << "told of it although it rested";
  EXPECT_EQ(sorter_.streams_forgotten(), 0u);
}

TEST_F(Requests, ThreadsThatHaveGoneTakeNextToNoMemory) {
  constexpr uint32_t kFirst = 1000;
  tracks_.EndAtOnce();
  std::vector<Bytes> records;
  for (uint32_t i = 0; i < kMany; ++i) {
    records.push_back(Launch(kFirst + i, 1 + i, kTime + i * uint64_t{100'000}));
    if (i % kBatch != kBatch - 1) continue;
    Give(records);
    records.clear();
    sorter_.Release(1 + i, 1'000'000'000, /*all=*/false, names_);
    Write();
  }
  EXPECT_LE(most_buffers_, CallingThreads::kMany + 2 * kBatch);
  EXPECT_LT(most_bytes_, 12u << 20);
  const auto written = Written(proto::ChunkKind::kApi);
  ASSERT_EQ(written.size(), kMany);
  for (uint32_t i = 0; i < kMany; ++i)
    ASSERT_EQ(written[i], (std::pair<uint64_t, uint32_t>{1 + i, kFirst + i}));
}

// Within the seconds in which all of them are kept: then it is those used last that stay.
TEST(CallingThreads, AreBoundedAndThoseThatGoOnKeepTheirBuffers) {
  constexpr uint32_t kBusy = 7;
  Tracks tracks;
  CallingThreads threads(&tracks);
  codec::SpanBuffer busy(proto::ChunkKind::kApi, kBusy), brief(proto::ChunkKind::kApi, 1000);
  threads.Of(kBusy, kTime)->calls = &busy;
  threads.Of(1000, kTime)->calls = &brief;
  std::vector<const codec::SpanBuffer*> unused;
  size_t most = 0;
  for (uint32_t i = 1; i <= 2 * kMany; ++i) {
    EXPECT_EQ(threads.Of(1000 + i, kTime + i)->track, 1000 + i);
    if (i % kBatch != 0) continue;
    EXPECT_EQ(threads.Of(kBusy, kTime + i)->calls, &busy);
    threads.RowsAreWritten(&unused);
    most = std::max(most, threads.known());
  }
  EXPECT_EQ(unused, (std::vector<const codec::SpanBuffer*>{&brief}));
  EXPECT_LE(most, CallingThreads::kMostKnown);
  EXPECT_GT(most, CallingThreads::kMostKnown / 2);
  EXPECT_EQ(threads.Of(1000, kTime)->calls, nullptr);
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
