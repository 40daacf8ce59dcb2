// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names are those of recordings of JAX 0.10, TensorFlow 2.21 and PyTorch 2.

#include "analysis/derived/op_category.h"

#include <gtest/gtest.h>

namespace gpuprof::analysis {
namespace {

using proto::OpScope;

struct Case {
  std::string_view name;
  OpScope scope;
  OpCategory category;
};

TEST(OpCategory, FollowsFromNameAndScope) {
  constexpr Case kCases[] = {
      {"trace_to_jaxpr_dynamic", OpScope::kTraceMe, OpCategory::kTracing},
      {"lower_sharding_computation", OpScope::kTraceMe, OpCategory::kTracing},
      {"backend_compile_and_load", OpScope::kTraceMe, OpCategory::kCompiling},
      {"JitCompiler::Compile", OpScope::kTraceMe, OpCategory::kCompiling},
      {"CpuCompiler::RunBackend", OpScope::kTraceMe, OpCategory::kCompiling},
      {"CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", OpScope::kTraceMe,
       OpCategory::kDispatch},
      {"PjitFunction(step)", OpScope::kTraceMe, OpCategory::kDispatch},
      {"CommonPjRtBuffer::Await", OpScope::kTraceMe, OpCategory::kWaiting},
      {"ThunkExecutor::Execute (wait for completion)", OpScope::kTraceMe, OpCategory::kWaiting},
      {"DevicePutWithSharding", OpScope::kTraceMe, OpCategory::kTransfer},
      {"BatchedCopyToDeviceWithSharding create batch", OpScope::kTraceMe, OpCategory::kTransfer},
      {"Iterator::Root::Prefetch", OpScope::kTraceMe, OpCategory::kInput},
      {"IteratorGetNextOp::DoCompute", OpScope::kTraceMe, OpCategory::kInput},
      {"dot", OpScope::kTraceMe, OpCategory::kOperation},
      {"Torch-Compiled Region: 0/0", OpScope::kUser, OpCategory::kRange},
      {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", OpScope::kUser,
       OpCategory::kInput},
      {"Optimizer.step#SGD.step", OpScope::kUser, OpCategory::kOptimizer},
      {"c10d::allreduce_", OpScope::kFunction, OpCategory::kCommunication},
      {"MmBackward0", OpScope::kBackward, OpCategory::kBackward},
      {"autograd::engine::evaluate_function: MmBackward0", OpScope::kFunction,
       OpCategory::kBackward},
      {"aten::mm", OpScope::kFunction, OpCategory::kOperation},
      {"encoder", OpScope::kUser, OpCategory::kRange},
  };
  for (const Case& each : kCases)
    EXPECT_EQ(OpCategoryOf(each.name, each.scope), each.category) << each.name;
}

TEST(OpCategory, WhatRunsWithinBelongsToItUnlessItWaitsOrTransfers) {
  EXPECT_EQ(CategoryWithin(OpCategory::kBackward, OpCategory::kOperation), OpCategory::kBackward);
  EXPECT_EQ(CategoryWithin(OpCategory::kInput, OpCategory::kDispatch), OpCategory::kInput);
  EXPECT_EQ(CategoryWithin(OpCategory::kCompiling, OpCategory::kWaiting), OpCategory::kWaiting);
  EXPECT_EQ(CategoryWithin(OpCategory::kRange, OpCategory::kOperation), OpCategory::kOperation);
  EXPECT_EQ(CategoryWithin(OpCategory::kDispatch, OpCategory::kOperation), OpCategory::kOperation);
}

}  // namespace
}  // namespace gpuprof::analysis
