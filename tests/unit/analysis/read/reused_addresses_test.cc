// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows get the module that lay at an address at their time.

#include "analysis/read/reused_addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/model/modules.h"
#include "analysis/symbols/symbolizer.h"
#include "tests/unit/analysis/read/trace_maker.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;
using testing::ElementsAre;
using Names = std::vector<std::string>;

constexpr int64_t kNever = INT64_MAX;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = 1'700'000'000 * kSecond;

class ReusedAddressesTest : public testing::Test {
 protected:
  ReusedAddressesTest() { process_.tracks.emplace_back(); }

  // Seen from `first` until `last`, 0: for ever.
  void Module(const std::string& path, uint64_t start, uint64_t end, uint64_t first,
              uint64_t last) {
    proto::Module& module = process_.modules.emplace_back();
    module.set_path("/nowhere/" + path);
    module.set_start(start);
    module.set_end(end);
    module.set_bias(start);
    module.set_first_seen(first);
    module.set_last_seen(last);
    stays_.push_back(
        {process_.modules.size() - 1, last == 0 ? kNever : static_cast<int64_t>(last)});
  }
  void Heap(int64_t time, uint32_t stack) {
    HeapTable& heap = process_.tracks[0].heap;
    heap.time_ns.push_back(time);
    heap.operation.push_back(0);
    heap.address.push_back(0);
    heap.size.push_back(1);
    heap.stack.push_back(stack);
    heap.capture.push_back(1);
  }
  void Wait(int64_t time, uint64_t caller) {
    WaitTable& wait = process_.tracks[0].wait;
    wait.end_ns.push_back(time);
    wait.duration_ns.push_back(0);
    wait.operation.push_back(0);
    wait.object.push_back(0);
    wait.caller.push_back(caller);
    wait.stack.push_back(0);
    wait.owner.push_back(0);
  }
  void Separate(bool at_once = false) { SeparateReusedAddresses(stays_, at_once, &process_); }
  uint32_t StackOf(size_t row) const { return process_.tracks[0].heap.stack[row]; }
  // Innermost first.
  Names Frames(size_t row) {
    Symbolizer symbolizer(process_);
    Names names;
    StackNode node;
    for (uint32_t at = StackOf(row); process_.stacks.Find(at, &node); at = node.parent)
      names.push_back(symbolizer.Resolve(node.pc).function);
    return names;
  }

  Process process_;
  std::vector<ModuleStay> stays_;
};

TEST_F(ReusedAddressesTest, OneAfterTheOther) {
  Module("main", 0x1000, 0x2000, 1, 0);
  Module("a.so", 0x5000, 0x6000, 10, 20);
  Module("b.so", 0x5000, 0x6000, 30, 0);
  process_.stacks.Add(2, 0, 0x1010);
  process_.stacks.Add(3, 2, 0x5020);
  Heap(5, 3);   // a constructor's: before it was seen
  Heap(19, 3);  // both were called by the same function
  Heap(20, 3);  // gone: the other's constructor
  Heap(90, 3);
  Heap(15, 2);
  Separate();
  EXPECT_THAT(Frames(0), ElementsAre("a.so+0x20", "main+0x10"));
  EXPECT_EQ(StackOf(1), StackOf(0)) << "equal stacks stay one";
  EXPECT_THAT(Frames(2), ElementsAre("b.so+0x20", "main+0x10"));
  EXPECT_EQ(StackOf(2), 3u) << "where an address alone leads to";
  EXPECT_EQ(StackOf(3), 3u);
  EXPECT_EQ(StackOf(4), 2u);
  StackNode node;
  ASSERT_TRUE(process_.stacks.Find(StackOf(0), &node));
  EXPECT_TRUE(IsMoved(node.pc));
  EXPECT_EQ(TrueAddress(node.pc), 0x5020u);
  EXPECT_EQ(node.parent, 2u);
}

TEST_F(ReusedAddressesTest, TheSameAgainAfterAnother) {
  Module("a.so", 0x5000, 0x6000, 50, 0);
  Module("b.so", 0x5000, 0x6000, 30, 40);
  // a.so, b.so, a.so: two stays of one module.
  stays_ = {{0, 20}, {1, 40}, {0, kNever}};
  process_.stacks.Add(2, 0, 0x5020);
  for (const int64_t time : {15, 35, 45}) Heap(time, 2);
  Separate();
  EXPECT_THAT(Frames(0), ElementsAre("a.so+0x20"));
  EXPECT_THAT(Frames(1), ElementsAre("b.so+0x20"));
  EXPECT_EQ(StackOf(2), StackOf(0));
}

TEST_F(ReusedAddressesTest, OnlyTheSharedPart) {
  Module("a.so", 0x5000, 0x7000, 10, 20);
  Module("b.so", 0x6000, 0x8000, 30, 0);
  process_.stacks.Add(2, 0, 0x5020);
  process_.stacks.Add(3, 2, 0x6020);
  process_.stacks.Add(4, 0, 0x7020);
  process_.stacks.Add(5, 4, 0x6020);
  Heap(15, 3);
  Heap(35, 5);
  Heap(35, 4);
  Wait(15, 0x6020);
  Wait(35, 0x6020);
  Separate();
  EXPECT_THAT(Frames(0), ElementsAre("a.so+0x1020", "a.so+0x20"));
  EXPECT_THAT(Frames(1), ElementsAre("b.so+0x20", "b.so+0x1020"));
  EXPECT_THAT(Frames(2), ElementsAre("b.so+0x1020"));
  Symbolizer symbolizer(process_);
  const WaitTable& wait = process_.tracks[0].wait;
  EXPECT_EQ(symbolizer.Resolve(wait.caller[0]).function, "a.so+0x1020");
  EXPECT_EQ(TrueAddress(wait.caller[0]), 0x6020u);
  EXPECT_EQ(wait.caller[1], 0x6020u);
}

TEST_F(ReusedAddressesTest, NothingIsDoneWhereNothingIsShared) {
  Module("a.so", 0x5000, 0x6000, 10, 20);
  Module("b.so", 0x6000, 0x7000, 30, 0);
  process_.stacks.Add(2, 0, 0x5020);
  process_.stacks.Add(3, 2, 0x6020);
  Heap(15, 3);
  Heap(35, 3);
  Separate();
  EXPECT_EQ(process_.stacks.size(), 2u);
  EXPECT_EQ(process_.modules.size(), 2u);
  EXPECT_THAT(process_.tracks[0].heap.stack, ElementsAre(3, 3));
}

TEST_F(ReusedAddressesTest, AChildHasWhatItsParentHadAtItsBirth) {
  Module("a.so", 0x5000, 0x6000, 10, 20);
  Module("b.so", 0x5000, 0x6000, 30, 0);
  process_.stacks.Add(2, 0, 0x5020);
  process_.first_ns = 12;
  Heap(35, 2);
  Separate(/*at_once=*/true);
  EXPECT_THAT(Frames(0), ElementsAre("a.so+0x20"));
}

TEST_F(ReusedAddressesTest, FromAFile) {
  TemporaryDirectory directory;
  TraceMaker maker(directory.path(), 100, kWall / 1000, proto::ClockKind::kTsc, /*time_shift=*/5);
  maker.Meta(maker.Identity(1));
  maker.Clock(0, kSecond, kWall);
  maker.Clock(2 * kSecond, 2 * kSecond, kWall + kSecond);
  const auto tell = [&](const char* path, uint64_t first, uint64_t last) {
    proto::Modules modules;
    proto::Module* module = modules.add_module();
    module->set_path(path);
    module->set_start(0x5000);
    module->set_end(0x6000);
    module->set_bias(0x5000);
    module->set_first_seen(first);
    if (last != 0) module->set_last_seen(last);
    maker.Table(ChunkKind::kModules, proto::Chunk::kModulesFieldNumber, modules, 1);
  };
  tell("/nowhere/a.so", 1000, 0);
  tell("/nowhere/a.so", 1000, 2010);
  tell("/nowhere/b.so", 3000, 0);
  tell("/nowhere/b.so", 3000, 4010);
  tell("/nowhere/a.so", 5000, 0);
  proto::Stacks stacks;
  stacks.set_first_id(2);
  stacks.add_parent_back(0);
  stacks.add_pc_delta(0x5020);
  maker.Table(ChunkKind::kStacks, proto::Chunk::kStacksFieldNumber, stacks, 1);
  maker.Thread(0, 1, 101, "main");
  // The second as soon as the first was gone: rows tell less of the time than tables.
  for (const uint64_t time : {1500, 2011, 4500})
    maker.Row(ChunkKind::kHeap, 1, {time, proto::HeapOperation(false, 1, 0), 0x7000, 64, 2});
  maker.End();
  maker.Close();
  std::shared_ptr<const Trace> trace;
  const Error error = Open(directory.path(), {}, &trace);
  ASSERT_FALSE(error) << error.message;
  const Process& process = trace->processes.at(0);
  Symbolizer symbolizer(process);
  Names names;
  for (const uint32_t id : process.tracks.at(0).heap.stack) {
    StackNode node;
    ASSERT_TRUE(process.stacks.Find(id, &node));
    names.push_back(symbolizer.Resolve(node.pc).function);
  }
  EXPECT_THAT(names, ElementsAre("a.so+0x20", "b.so+0x20", "a.so+0x20"));
}

}  // namespace
}  // namespace gpuprof::analysis
