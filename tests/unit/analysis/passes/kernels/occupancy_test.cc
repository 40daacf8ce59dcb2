// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/kernels/occupancy.h"

#include <gtest/gtest.h>

namespace gpuprof::analysis::test {
namespace {

proto::Device MakeDevice(uint32_t major, uint32_t multiprocessors, uint32_t shared_bytes) {
  proto::Device device;
  device.set_compute_major(major);
  device.set_multiprocessors(multiprocessors);
  device.set_shared_bytes_per_multiprocessor(shared_bytes);
  device.set_threads_per_warp(32);
  device.set_warps_per_multiprocessor(64);
  device.set_blocks_per_multiprocessor(32);
  device.set_registers_per_multiprocessor(65536);
  return device;
}

proto::Signature MakeLaunch(uint32_t registers, uint32_t shared_bytes, uint32_t threads,
                            uint32_t blocks) {
  proto::Signature launch;
  launch.set_registers(registers);
  launch.set_static_shared_bytes(shared_bytes / 2);
  launch.set_dynamic_shared_bytes(shared_bytes - shared_bytes / 2);
  for (const uint32_t size : {blocks, 1u, 1u}) launch.add_grid(size);
  for (const uint32_t size : {threads, 1u, 1u}) launch.add_block(size);
  return launch;
}

const proto::Device kV100 = MakeDevice(7, 80, 98304);
const proto::Device kA100 = MakeDevice(8, 108, 167936);
const proto::Device kH100 = MakeDevice(9, 132, 233472);

// What NVIDIA's calculator said of real launches in recordings of torch.profiler.
TEST(Occupancy, IsThatOfTheCalculator) {
  const auto volta = OccupancyOf(kV100, MakeLaunch(126, 8448, 64, 6272));
  ASSERT_TRUE(volta.has_value());
  EXPECT_DOUBLE_EQ(volta->ratio, 0.25);
  EXPECT_EQ(volta->limit, OccupancyResource::kRegisters);
  EXPECT_EQ(volta->blocks, 8u);
  EXPECT_DOUBLE_EQ(volta->waves, 9.8);
  const auto ampere = OccupancyOf(kA100, MakeLaunch(47, 0, 256, 864));
  ASSERT_TRUE(ampere.has_value());
  EXPECT_DOUBLE_EQ(ampere->ratio, 0.625);
  EXPECT_EQ(ampere->limit, OccupancyResource::kRegisters);
  EXPECT_DOUBLE_EQ(ampere->waves, 1.6);
  const auto hopper = OccupancyOf(kH100, MakeLaunch(16, 0, 128, 17888));
  ASSERT_TRUE(hopper.has_value());
  EXPECT_DOUBLE_EQ(hopper->ratio, 1);
  EXPECT_EQ(hopper->limit, OccupancyResource::kWarps);
}

TEST(Occupancy, SharedMemoryAboveTheDefaultCounts) {
  const auto hopper = OccupancyOf(kH100, MakeLaunch(168, 231424, 384, 132));
  ASSERT_TRUE(hopper.has_value());
  EXPECT_EQ(hopper->blocks, 1u);
  EXPECT_EQ(hopper->limit, OccupancyResource::kRegisters)
      << "shared memory allows one block as well";
  EXPECT_DOUBLE_EQ(hopper->ratio, 12.0 / 64);
  const auto ampere = OccupancyOf(kA100, MakeLaunch(32, 67584, 128, 108));
  ASSERT_TRUE(ampere.has_value());
  EXPECT_EQ(ampere->limit, OccupancyResource::kSharedMemory);
  EXPECT_EQ(ampere->blocks, 2u);
  EXPECT_DOUBLE_EQ(ampere->waves, 0.5);
}

TEST(Occupancy, SmallBlocksFillNoMultiprocessor) {
  const auto small = OccupancyOf(kH100, MakeLaunch(16, 0, 32, 1));
  ASSERT_TRUE(small.has_value());
  EXPECT_EQ(small->limit, OccupancyResource::kBlocks);
  EXPECT_DOUBLE_EQ(small->ratio, 0.5);
}

TEST(Occupancy, WithoutLimitsThereIsNone) {
  EXPECT_FALSE(OccupancyOf(proto::Device(), MakeLaunch(16, 0, 32, 1)).has_value());
  EXPECT_FALSE(OccupancyOf(kH100, proto::Signature()).has_value());
  EXPECT_FALSE(OccupancyOf(kH100, MakeLaunch(16, 300000, 32, 1)).has_value()) << "does not fit";
  EXPECT_FALSE(OccupancyOf(kH100, MakeLaunch(16, 0, 4096, 1)).has_value());
  EXPECT_FALSE(OccupancyOf(kH100, MakeLaunch(16, 0, 0, 1)).has_value());
}

}  // namespace
}  // namespace gpuprof::analysis::test
