// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Records of memory, pools and devices, made byte by byte as a library writes them, become the rows
// and tables that they should; also short ones, of libraries that have fewer fields.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "proto/trace.pb.h"
#include "tests/unit/tracer/cupti/activity_records.h"

namespace gpuprof::tracer::cupti {
namespace {

using codec::Row;

class MemoryRecords : public ActivityRecords {
 protected:
  proto::Devices TakenDevices(uint32_t* count, const OwnBuffers& own = {}) {
    std::vector<uint8_t> bytes;
    *count = sorter_.TakeDevices(own, &bytes);
    proto::Devices message;
    EXPECT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    return message;
  }

  proto::Streams TakenStreams() {
    std::vector<uint8_t> bytes;
    sorter_.TakeStreams(&bytes);
    proto::Streams message;
    EXPECT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    return message;
  }
};

Bytes Memory(uint32_t operation, uint32_t kind, uint64_t time, uint64_t address, uint64_t bytes,
             uint32_t stream, size_t size = 128) {
  return Bytes(Activity::kMemory2, size)
      .U32(memory::kOperation, operation)
      .U32(memory::kMemoryKind, kind)
      .U32(memory::kCorrelation, static_cast<uint32_t>(time % 1000))
      .U64(memory::kAddress, address)
      .U64(memory::kBytes, bytes)
      .U64(memory::kTime, time)
      .U64(memory::kPc, 0x401234)
      .U32(memory::kDevice, 2)
      .U32(memory::kContext, 5)
      .U32(memory::kStream, stream);
}

Bytes& OfPool(Bytes& record, uint64_t address, uint64_t size, uint64_t utilized) {
  return record.U32(memory::kAsync, 1)
      .U32(memory::kPoolType, kPoolLocal)
      .U64(memory::kPoolAddress, address)
      .U64(memory::kPoolThreshold, UINT64_MAX)
      .U64(memory::kPoolSize, size)
      .U64(memory::kPoolUtilized, utilized);
}

TEST_F(MemoryRecords, BecomeRowsInOrderOfTime) {
  const Bytes free = Memory(2, 3, 2'000'000'007, 0x7f0000001000, 4096, kNoId);
  const Bytes alloc = Memory(1, 3, 2'000'000'001, 0x7f0000001000, 4096, kNoId);
  const Bytes managed = Memory(1, 5, 2'000'000'004, 0x7f0000002000, 1, kNoId);
  Give({free, alloc, managed});
  const auto rows = Rows(proto::ChunkKind::kDeviceMemory);
  const uint32_t device = proto::MemoryOperation(1, 3, 0, false);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].second, (Row{2'000'000'001, device, 0x7f0000001000, 4096, 1, 0, 0x401234, 0}));
  EXPECT_EQ(rows[1].second, (Row{2'000'000'004, proto::MemoryOperation(1, 5, 0, false),
                                 0x7f0000002000, 1, 4, 0, 0x401234, 0}));
  EXPECT_EQ(rows[2].second, (Row{2'000'000'007, proto::MemoryOperation(2, 3, 0, false),
                                 0x7f0000001000, 4096, 7, 0, 0x401234, 0}));
  EXPECT_TRUE(Rows(proto::ChunkKind::kMemoryPool).empty());
  const proto::Streams streams = TakenStreams();
  ASSERT_EQ(streams.stream_size(), 1);
  EXPECT_EQ(streams.stream(0).track(), rows[0].first);
  EXPECT_EQ(streams.stream(0).device(), 2u);
  EXPECT_EQ(streams.stream(0).context(), 5u);
  EXPECT_EQ(streams.stream(0).stream(), kNoId);
}

TEST_F(MemoryRecords, OfAPoolTellOfThePoolToo) {
  Bytes alloc = Memory(1, 3, 1'000'000'001, 0x7000, 4096, 14);
  Give({OfPool(alloc, 0x7f1100000000, 32 << 20, 4096)
            .Text(memory::kSource, "/usr/lib/libtorch_cuda.so"),
        Bytes(Activity::kMemoryPool, 80)
            .U32(pool::kOperation, 3)
            .U32(pool::kPoolType, kPoolLocal)
            .U32(pool::kCorrelation, 77)
            .U32(pool::kDevice, 2)
            .U64(pool::kKept, 1 << 20)
            .U64(pool::kAddress, 0x7f1100000000)
            .U64(pool::kSize, 2 << 20)
            .U64(pool::kThreshold, UINT64_MAX)
            .U64(pool::kTime, 1'000'000'009)
            .U64(pool::kUtilized, 4096)
            .U8(pool::kManaged, 1)});
  const auto memory = Rows(proto::ChunkKind::kDeviceMemory);
  ASSERT_EQ(memory.size(), 1u);
  EXPECT_EQ(memory[0].second[1], proto::MemoryOperation(1, 3, kPoolLocal, true));
  EXPECT_EQ(memory[0].second[5], 0x7f1100000000u);
  std::vector<uint8_t> bytes;
  strings_.TakeStrings(&bytes);
  proto::Strings strings;
  ASSERT_TRUE(strings.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  ASSERT_EQ(strings.text_size(), 1);
  EXPECT_EQ(strings.text(0), "/usr/lib/libtorch_cuda.so");
  EXPECT_EQ(memory[0].second[7], strings.id(0));
  const auto pools = Rows(proto::ChunkKind::kMemoryPool);
  ASSERT_EQ(pools.size(), 2u);
  EXPECT_EQ(pools[0].second, (Row{1'000'000'001, proto::PoolOperation(0, kPoolLocal, false),
                                  0x7f1100000000, 32 << 20, 4096, UINT64_MAX, 0, 0}));
  EXPECT_EQ(pools[1].second, (Row{1'000'000'009, proto::PoolOperation(3, kPoolLocal, true),
                                  0x7f1100000000, 2 << 20, 4096, UINT64_MAX, 1 << 20, 77}));
  EXPECT_NE(memory[0].first, pools[0].first) << "the pool belongs to the device, not to a stream";
}

TEST_F(MemoryRecords, OfAnImportedPoolHaveNoFigures) {
  Bytes alloc = Memory(1, 3, 1'000'000'001, 0x7000, 4096, 14);
  Give({OfPool(alloc, 0x7f11, 4242, 0).U32(memory::kPoolType, 2), Bytes(Activity::kMemoryPool, 72)
                                                                      .U32(pool::kOperation, 1)
                                                                      .U32(pool::kPoolType, 2)
                                                                      .U64(pool::kTime, 5)
                                                                      .U64(pool::kAddress, 0x7f11)
                                                                      .U64(pool::kSize, 4242)});
  EXPECT_EQ(Rows(proto::ChunkKind::kDeviceMemory)[0].second[5], 0x7f11u);
  const auto pools = Rows(proto::ChunkKind::kMemoryPool);
  ASSERT_EQ(pools.size(), 1u) << "its place of the size holds a process's id";
  EXPECT_EQ(pools[0].second, (Row{5, proto::PoolOperation(1, 2, false), 0x7f11, 0, 0, 0, 0, 0}));
}

// 11.8's are shorter: what lies behind a record is the next one's.
TEST_F(MemoryRecords, OfOldLibrariesLackFields) {
  const Bytes short_one = Memory(1, 3, 1'000'000'001, 0x7000, 4096, kNoId, 120);
  Give({short_one, short_one, short_one});
  const auto rows = Rows(proto::ChunkKind::kDeviceMemory);
  ASSERT_EQ(rows.size(), 3u);
  for (const auto& [track, row] : rows) EXPECT_EQ(row[7], 0u);
  EXPECT_EQ(sorter_.counters().without_times, 0u);
}

TEST_F(MemoryRecords, AVariableHasItsName) {
  Give({Memory(1, 6, 10, 0x7000, 64, kNoId)
            .Text(memory::kName, "table")
            .Text(memory::kSource, "/usr/lib/libsolver.so")});
  std::vector<uint8_t> bytes;
  EXPECT_EQ(strings_.TakeStrings(&bytes), 1u);
  proto::Strings strings;
  ASSERT_TRUE(strings.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  EXPECT_EQ(strings.text(0), "table");
}

TEST_F(MemoryRecords, WithoutTimeAreCounted) {
  Give({Memory(1, 3, 0, 0x7000, 64, kNoId), Bytes(Activity::kMemoryPool, 80)});
  EXPECT_EQ(sorter_.counters().without_times, 2u);
  EXPECT_EQ(sorter_.rows(), 0u);
}

TEST_F(MemoryRecords, DevicesComeOutOnce) {
  const Bytes device = Bytes(Activity::kDevice, 184)
                           .U32(device::kId, 3)
                           .Text(device::kName, "NVIDIA H200")
                           .U64(device::kMemoryBytes, uint64_t{141} << 30)
                           .U64(device::kMemoryBandwidth, 4'800'000'000)
                           .U32(device::kMultiprocessors, 132)
                           .U32(device::kMajor, 9)
                           .U32(device::kWarpsPerMultiprocessor, 64)
                           .U32(device::kBlocksPerMultiprocessor, 32)
                           .U32(device::kGpuInstance, UINT32_MAX)
                           .U8(device::kUuid, 0xab)
                           .U8(device::kUuid + 15, 0xcd);
  Give({device, device});
  EXPECT_TRUE(sorter_.has_news());
  uint32_t count = 0;
  const proto::Devices devices = TakenDevices(&count, {9'600'000, true});
  ASSERT_EQ(count, 1u);
  ASSERT_EQ(devices.device_size(), 1);
  const proto::Device& told = devices.device(0);
  EXPECT_EQ(told.id(), 3u);
  EXPECT_EQ(told.name(), "NVIDIA H200");
  EXPECT_EQ(told.uuid(), "\xab" + std::string(14, 0) + "\xcd");
  EXPECT_EQ(told.compute_major(), 9u);
  EXPECT_EQ(told.multiprocessors(), 132u);
  EXPECT_EQ(told.memory_bytes(), uint64_t{141} << 30);
  EXPECT_EQ(told.memory_bandwidth_kb_per_s(), 4'800'000'000u);
  EXPECT_EQ(told.warps_per_multiprocessor(), 64u);
  EXPECT_EQ(told.blocks_per_multiprocessor(), 32u);
  EXPECT_FALSE(told.is_mig());
  EXPECT_EQ(told.gpu_instance(), 0u);
  EXPECT_EQ(told.buffer_bytes_per_context(), 9'600'000u);
  EXPECT_TRUE(told.buffers_pinned());
  EXPECT_FALSE(devices.cuda_had_begun());
  Give({device});
  EXPECT_FALSE(sorter_.has_news()) << "every capture tells of it again";
  sorter_.NoteCudaHadBegun();
  EXPECT_TRUE(TakenDevices(&count).cuda_had_begun());
  EXPECT_EQ(count, 1u);
  TakenDevices(&count);
  EXPECT_EQ(count, 0u);
}

TEST_F(MemoryRecords, StreamsAreDescribedWhenTheyAreToldOf) {
  const auto stream = [](uint32_t id, uint32_t priority, uint32_t flag) {
    return Bytes(Activity::kStream, 24)
        .U32(stream::kContext, 5)
        .U32(stream::kId, id)
        .U32(stream::kPriority, priority)
        .U32(stream::kFlag, flag);
  };
  Give({stream(14, static_cast<uint32_t>(-5), 2), stream(15, 0, 1),
        Memory(1, 3, 10, 0x7000, 64, 14), Memory(1, 3, 11, 0x8000, 64, 7)});
  const proto::Streams streams = TakenStreams();
  ASSERT_EQ(streams.stream_size(), 2) << "the one without rows has no track";
  EXPECT_TRUE(streams.stream(0).described());
  EXPECT_EQ(streams.stream(0).stream(), 14u);
  EXPECT_EQ(streams.stream(0).priority(), -5);
  EXPECT_EQ(streams.stream(0).flag(), 2u);
  EXPECT_FALSE(streams.stream(1).described());
  EXPECT_EQ(TakenStreams().stream_size(), 0);
  Give({stream(7, 0, 3)});
  const proto::Streams again = TakenStreams();
  ASSERT_EQ(again.stream_size(), 1) << "told later: it comes again";
  EXPECT_EQ(again.stream(0).track(), streams.stream(1).track());
  EXPECT_EQ(again.stream(0).flag(), 3u);
}

// A wait for a whole context says no device: the context's record does.
TEST_F(MemoryRecords, ContextsTellTheirDevice) {
  Give({Bytes(Activity::kContext, 32).U32(context::kId, 5).U32(context::kDevice, 2),
        Bytes(Activity::kSynchronization, 56)
            .U64(sync::kStart, 20)
            .U64(sync::kEnd, 30)
            .U32(sync::kContext, 5)
            .U32(sync::kStream, kNoId),
        Memory(1, 3, 10, 0x7000, 64, kNoId)});
  const proto::Streams streams = TakenStreams();
  ASSERT_EQ(streams.stream_size(), 1);
  EXPECT_EQ(streams.stream(0).device(), 2u);
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
