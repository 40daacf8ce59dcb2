// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The memory of allocators that told TensorFlow's profiler: `memory_profile` of an XSpace.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analysis/analysis.h"
#include "analysis/import/random_bytes.h"
#include "analysis/import/xspace_importer.h"
#include "analysis/import/xspace_reader.h"
#include "analysis/model/model_builder.h"
#include "proto/results/memory_profile.pb.h"
#include "tests/unit/analysis/import/xspace_maker.h"
#include "tests/unit/analysis/passes/run_pass.h"

namespace gpuprof::analysis {
namespace {

using import::PlaneMaker;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Makes an XSpace in which allocators tell what they do, and keeps their account.
class Allocators : public testing::Test {
 protected:
  struct Place {
    std::string op, shape, region;
    int64_t type = 0;
  };

  static Place Operation(const std::string& op) {
    Place place;
    place.op = op;
    return place;
  }

  Allocators() : host_(&space_, "/host:CPU"), line_(host_.Line(7, "main")) {}

  void Allocate(const std::string& allocator, int64_t address, int64_t bytes, const Place& of) {
    allocated_ += bytes;
    import::xspace::XEvent* const event = Tell(allocator, "MemoryAllocation", address);
    host_.Stat(event, "allocation_bytes", bytes);
    if (!of.op.empty()) host_.Stat(event, "tf_op", of.op);
    if (!of.shape.empty()) host_.Stat(event, "shape", of.shape);
    if (!of.region.empty()) host_.Stat(event, "region_type", of.region);
    host_.Stat(event, "data_type", of.type);
  }
  // An allocator that does not tell how large the block was, as that of a TPU.
  void ReleaseOfUnknownSize(const std::string& allocator, int64_t address, int64_t bytes) {
    allocated_ -= bytes;
    Tell(allocator, "MemoryDeallocation", address);
  }
  void Release(const std::string& allocator, int64_t address, int64_t bytes) {
    allocated_ -= bytes;
    host_.Stat(Tell(allocator, "MemoryDeallocation", address), "allocation_bytes", bytes);
  }
  results::MemoryProfile Profile() {
    import::XSpaceImporter importer(0);
    const import::HeldBytes file(space_.SerializeAsString());
    import::XSpaceFacts facts;
    const Error error = import::ReadXSpace(file, "x.xplane.pb", &importer, &facts);
    EXPECT_FALSE(error) << error.message;
    ModelBuilder model("x.xplane.pb");
    model.AddProcess(importer.Build("x.xplane.pb", "host", importer.Close()));
    return test::RunPass<results::MemoryProfile>("memory_profile", model.Finish());
  }

  int64_t allocated_ = 0, stack_ = 0, lifetime_peak_ = 0, now_us_ = 10;
  import::xspace::XSpace space_;
  PlaneMaker host_;
  import::xspace::XLine* line_;

 private:
  import::xspace::XEvent* Tell(const std::string& allocator, const std::string& name,
                               int64_t address) {
    constexpr int64_t kCapacity = 1'000'000;
  import::xspace::XEvent* const event = host_.Event(line_, name, ++now_us_ * 1'000'000, 0);
  if (!allocator.empty()) host_.Stat(event, "allocator_name", allocator);
  if (allocator.empty()) host_.Stat(event, "index_on_host", 3);
  host_.Stat(event, "addr", address);
  host_.Stat(event, "bytes_allocated", allocated_);
  host_.Stat(event, "bytes_reserved", stack_);
  host_.Stat(event, "bytes_available", kCapacity - allocated_ - stack_);
  host_.Stat(event, "peak_bytes_in_use", std::max(lifetime_peak_, allocated_));
  return event;
}
};  // namespace

std::string RowOf(const results::MemoryProfileStack& row) {
  return row.name() + " " + row.data_type() + row.shape() + " " + row.region() + " " +
         std::to_string(row.count()) + "x" + std::to_string(row.bytes()) +
         (row.before() ? " before" : "");
}

TEST_F(Allocators, TheWholePeakHasItsOwners) {
  allocated_ = 500;  // of before
  lifetime_peak_ = 4000;
  Allocate("GPU_0_bfc", 0x100, 64, {"dense/MatMul", "[4,4]", "output", 1});
  Allocate("GPU_0_bfc", 0x200, 64, {"dense/MatMul", "[4,4]", "output", 1});
  Allocate("GPU_0_bfc", 0x300, 64, {"dense/MatMul", "[16]", "output", 1});
  Release("GPU_0_bfc", 0x900, 200);  // of before
  Allocate("GPU_0_bfc", 0x400, 1000, {"gradient_tape/dense/MatMul", "[250]", "temp", 19});
  Release("GPU_0_bfc", 0x200, 64);
  const results::MemoryProfile profile = Profile();
  ASSERT_EQ(profile.devices_size(), 1);
  const results::MemoryProfileDevice& device = profile.devices(0);
  EXPECT_EQ(device.name(), "GPU_0_bfc");
  EXPECT_EQ(device.source(), results::MEMORY_SOURCE_XSPACE);
  EXPECT_EQ(device.event_count(), 6u);
  EXPECT_EQ(device.before_bytes(), 500u);
  EXPECT_EQ(device.before_freed_bytes(), 200u);
  EXPECT_EQ(device.peak_bytes(), 300u + 3 * 64 + 1000);
  EXPECT_EQ(device.reported_peak_bytes(), device.peak_bytes());
  EXPECT_EQ(device.lifetime_peak_bytes(), 4000u);
  EXPECT_EQ(device.free_at_peak_bytes(), 1'000'000u - device.peak_bytes());
  EXPECT_EQ(device.end_bytes(), device.peak_bytes() - 64);
  std::vector<std::string> rows;
  uint64_t bytes = 0;
  for (const results::MemoryProfileStack& row : profile.stacks()) {
    rows.push_back(RowOf(row));
    bytes += row.bytes();
  }
  EXPECT_EQ(bytes, device.peak_bytes());
  EXPECT_THAT(rows, ElementsAre("gradient_tape/dense/MatMul half[250] temp 1x1000",
                                "(live before the recording)   1x300 before",
                                "dense/MatMul float[4,4] output 2x128",
                                "dense/MatMul float[16] output 1x64"));
  EXPECT_EQ(profile.stacks(0).category(), results::MEMORY_CATEGORY_TEMPORARY);
  EXPECT_THAT(Render(profile, Format::kText, {}, 0), Not(HasSubstr("events are missing")));
}

TEST_F(Allocators, ProgramsOfADeviceHoldMemoryApartFromBlocks) {
  Allocate("", 0x100, 100, {});
  stack_ = 700;
  Allocate("", 0x200, 50, {});
  stack_ = 900;
  ReleaseOfUnknownSize("", 0x100, 100);
  stack_ = 0;
  Allocate("", 0x300, 10, {});
  const results::MemoryProfile profile = Profile();
  ASSERT_EQ(profile.devices_size(), 1);
  const results::MemoryProfileDevice& device = profile.devices(0);
  EXPECT_EQ(device.name(), "cuda:3");
  EXPECT_EQ(device.peak_bytes(), 950u);
  EXPECT_EQ(device.reported_peak_bytes(), 950u);
  EXPECT_EQ(device.program_peak_bytes(), 900u);
  EXPECT_EQ(device.end_bytes(), 60u);
  EXPECT_EQ(profile.stacks(0).name(), "(programs of the device)");
  EXPECT_EQ(profile.stacks(0).bytes(), 900u);
}

TEST_F(Allocators, EachHasItsOwnAccount) {
  Allocate("GPU_1_bfc", 0x100, 100, Operation("a"));
  allocated_ = 0;
  Allocate("gpu_host_bfc", 0x100, 30, Operation("b"));
  const results::MemoryProfile profile = Profile();
  ASSERT_EQ(profile.devices_size(), 2);
  EXPECT_EQ(profile.devices(0).name(), "GPU_1_bfc");
  EXPECT_EQ(profile.devices(0).peak_bytes(), 100u);
  EXPECT_EQ(profile.devices(1).name(), "gpu_host_bfc");
  EXPECT_EQ(profile.devices(1).peak_bytes(), 30u);
  EXPECT_FALSE(profile.devices(1).has_free_at_peak_bytes()) << "a limit is no free memory";
}

TEST_F(Allocators, WithoutAnOperationTheOpenOneOfTheThreadAllocated) {
  host_.Event(line_, "BufferAllocations", 5'000'000, 100'000'000);
  Allocate("GPU_0_bfc", 0x100, 100, {});
  const results::MemoryProfile profile = Profile();
  ASSERT_EQ(profile.stacks_size(), 1);
  EXPECT_EQ(profile.stacks(0).name(), "BufferAllocations");
  EXPECT_EQ(profile.stacks(0).category(), results::MEMORY_CATEGORY_UNKNOWN);
}

TEST_F(Allocators, MissingEventsAreTold) {
  Allocate("GPU_0_bfc", 0x100, 100, Operation("a"));
  allocated_ += 1000;  // an event is not in the file
  Allocate("GPU_0_bfc", 0x200, 100, Operation("b"));
  const results::MemoryProfile profile = Profile();
  ASSERT_EQ(profile.devices_size(), 1);
  EXPECT_EQ(profile.devices(0).peak_bytes(), 200u);
  EXPECT_EQ(profile.devices(0).reported_peak_bytes(), 1200u);
  EXPECT_THAT(Render(profile, Format::kText, {}, 0),
              HasSubstr("The allocator itself counted 1,200 bytes, and its events add up to 200"));
}

}  // namespace gpuprof::analysis
}  // namespace gpuprof::analysis
