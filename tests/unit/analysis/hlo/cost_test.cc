// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/hlo/cost.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/unit/analysis/hlo/program_maker.h"

namespace gpuprof::analysis::hlo {
namespace {

using test::Field;
using test::HloMaker;

constexpr uint64_t kF32 = 11, kS32 = 4;

// Two products of matrices of 8 by 16 and 16 by 4, one of which a fusion has.
TEST(HloCostTest, AProductNeedsTwoOperationsForEachPair) {
  HloMaker maker;
  const int64_t left = maker.Parameter(0, kF32, {8, 16});
  const int64_t right = maker.Parameter(1, kF32, {16, 4});
  const std::string dims = Field(30, Field(1, 1) + Field(2, 0));
  const int64_t dot = maker.Add("dot", kF32, {8, 4}, {left, right}, dims);
  const std::string bytes = maker.Bytes();
  const Program program(bytes);
  for (const CostRules rules : {CostRules::kGpu, CostRules::kXla, CostRules::kXprofGpu}) {
    Costs costs(program, rules);
    const Cost& cost = costs.Of(*program.Find(dot));
    EXPECT_TRUE(cost.knows_flops && cost.knows_bytes);
    EXPECT_EQ(cost.flops, 2 * 8 * 4 * 16);
    EXPECT_EQ(cost.bytes, 4 * (8 * 16 + 16 * 4 + 8 * 4));
    EXPECT_EQ(cost.read, 4 * (8 * 16 + 16 * 4));
    EXPECT_EQ(cost.written, 4 * 8 * 4);
  }
}

// An input of 5 with a kernel of 3: 9 + 4 of 15 pairs meet it with padding, 9 without.
TEST(HloCostTest, AConvolutionCountsNoPadding) {
  for (const bool is_padded : {false, true}) {
    HloMaker maker;
    const int64_t output = is_padded ? 5 : 3;
    const int64_t input = maker.Parameter(0, kF32, {2, 5, 6});
    const int64_t kernel = maker.Parameter(1, kF32, {3, 6, 7});
    const std::string window =
        Field(15, Field(1, Field(1, 3) + Field(2, 1) + Field(3, is_padded ? 1 : 0) +
                               Field(4, is_padded ? 1 : 0) + Field(5, 1) + Field(6, 1)));
    const std::string places =
        Field(16, Field(7, 0) + Field(8, 2) + Field(11, 1) + Field(3, 1) + Field(4, 2) +
                      Field(6, 0) + Field(9, 0) + Field(10, 2) + Field(12, 1));
    const int64_t convolution =
        maker.Add("convolution", kF32, {2, output, 7}, {input, kernel}, window + places);
    const std::string bytes = maker.Bytes();
    const Program program(bytes);
    Costs costs(program, CostRules::kGpu);
    const int64_t pairs = is_padded ? 13 : 9;
    EXPECT_EQ(costs.Of(*program.Find(convolution)).flops, 2 * 2 * 6 * 7 * pairs);
  }
}

// A fusion that computes exp(x) of 100 elements and keeps 10 of them.
TEST(HloCostTest, AFusionReadsAndComputesWhatItNeeds) {
  HloMaker maker;
  const int64_t input = maker.Parameter(0, kF32, {100});
  maker.Begin("fused");
  const int64_t inner = maker.Parameter(0, kF32, {100});
  const int64_t twice = maker.Add("add", kF32, {100}, {inner, inner});
  const int64_t power = maker.Add("exponential", kF32, {100}, {twice});
  maker.Add("slice", kF32, {10}, {power});
  const int64_t called = maker.End();
  const int64_t fusion =
      maker.Add("fusion", kF32, {10}, {input}, Field(11, "kLoop") + Field(38, called));
  const std::string bytes = maker.Bytes();
  const Program program(bytes);
  Costs gpu(program, CostRules::kGpu);
  const Cost& cost = gpu.Of(*program.Find(fusion));
  EXPECT_EQ(cost.flops, 10);
  EXPECT_EQ(cost.transcendentals, 10);
  EXPECT_EQ(cost.bytes, 4 * (10 + 10));
  Costs any(program, CostRules::kXla);
  EXPECT_EQ(any.Of(*program.Find(fusion)).flops, 100);
  EXPECT_EQ(any.Of(*program.Find(fusion)).bytes, 4 * (100 + 10));
  // XProf counts clock cycles: 3 and 86.
  Costs xprof(program, CostRules::kXprofGpu);
  EXPECT_EQ(xprof.Of(*program.Find(fusion)).flops, 10 * (3 + 86));
}

TEST(HloCostTest, AnUpdateInPlaceMovesWhatItChanges) {
  HloMaker maker;
  const int64_t input = maker.Parameter(0, kF32, {1000});
  const int64_t update = maker.Parameter(1, kF32, {10});
  const int64_t at = maker.Parameter(2, kS32, {});
  const int64_t changed = maker.Add("dynamic-update-slice", kF32, {1000}, {input, update, at});
  const std::string bytes = maker.Bytes();
  const Program program(bytes);
  Costs costs(program, CostRules::kGpu);
  EXPECT_EQ(costs.Of(*program.Find(changed)).bytes, 4 * (10 + 10 + 1));
  EXPECT_EQ(costs.Of(*program.Find(changed)).flops, 0);
}

// A reduction of 6 rows of 50: the function adds, 49 times for each.
TEST(HloCostTest, AReductionAppliesItsFunction) {
  HloMaker maker;
  maker.Begin("add");
  const int64_t x = maker.Parameter(0, kF32, {});
  const int64_t y = maker.Parameter(1, kF32, {});
  maker.Add("add", kF32, {}, {x, y});
  const int64_t adder = maker.End();
  const int64_t input = maker.Parameter(0, kF32, {6, 50});
  const int64_t zero = maker.Add("constant", kF32, {}, {});
  const int64_t sum =
      maker.Add("reduce", kF32, {6}, {input, zero}, Field(14, 1) + Field(38, adder));
  const std::string bytes = maker.Bytes();
  const Program program(bytes);
  Costs costs(program, CostRules::kGpu);
  EXPECT_EQ(costs.Of(*program.Find(sum)).flops, 6 * 49);
  EXPECT_EQ(costs.Of(*program.Find(sum)).bytes, 4 * (300 + 1 + 6));
}

TEST(HloCostTest, ProductsOfLibrariesAreReadFromTheirSettings) {
  const auto cost_of = [](const std::string& target, const std::string& config) {
    HloMaker maker;
    const int64_t left = maker.Parameter(0, kF32, {8, 16});
    const int64_t right = maker.Parameter(1, kF32, {16, 4});
    const int64_t call = maker.AddTuple("custom-call", {{kF32, {8, 4}}, {kF32, {1000}}},
                                        {left, right}, Field(28, target) + Field(43, config));
    const std::string bytes = maker.Bytes();
    const Program program(bytes);
    Costs costs(program, CostRules::kGpu);
    return costs.Of(*program.Find(call));
  };
  const std::string config =
      R"({"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}})";
  const Cost known = cost_of("__cublas$gemm", config);
  EXPECT_TRUE(known.knows_flops && known.knows_bytes);
  EXPECT_EQ(known.flops, 2 * 8 * 4 * 16);
  EXPECT_EQ(known.bytes, 4 * (8 * 16 + 16 * 4 + 8 * 4));  // without the workspace
  EXPECT_FALSE(cost_of("__cublas$gemm", "").knows_flops);
  EXPECT_FALSE(cost_of("__cublas$gemm", "{\"gemm_backend_config\":7}").knows_flops);
  EXPECT_FALSE(cost_of("somebody's", config).knows_flops);
  EXPECT_FALSE(cost_of("somebody's", config).knows_bytes);
}

// The gradients of a convolution need as much as the convolution, with the same dimensions.
TEST(HloCostTest, GradientsOfConvolutionsCountLikeTheConvolution) {
  struct Call {
    std::string target;
    std::vector<int64_t> first, second, result;
  };
  const std::vector<int64_t> input = {2, 5, 6}, kernel = {3, 6, 7}, output = {2, 3, 7};
  const Call calls[] = {{"__cudnn$convForward", input, kernel, output},
                        {"__cudnn$convBackwardInput", output, kernel, input},
                        {"__cudnn$convBackwardFilter", input, output, kernel}};
  for (const Call& call : calls) {
    HloMaker maker;
    const int64_t first = maker.Parameter(0, kF32, call.first);
    const int64_t second = maker.Parameter(1, kF32, call.second);
    const std::string window =
        Field(15, Field(1, Field(1, 3) + Field(2, 1) + Field(5, 1) + Field(6, 1)));
    const std::string places =
        Field(16, Field(7, 0) + Field(8, 2) + Field(11, 1) + Field(3, 1) + Field(4, 2) +
                      Field(6, 0) + Field(9, 0) + Field(10, 2) + Field(12, 1));
    const int64_t made = maker.AddTuple("custom-call", {{kF32, call.result}, {kF32, {9}}},
                                        {first, second}, Field(28, call.target) + window + places);
    const std::string bytes = maker.Bytes();
    const Program program(bytes);
    Costs costs(program, CostRules::kGpu);
    EXPECT_EQ(costs.Of(*program.Find(made)).flops, 2 * 2 * 6 * 7 * 9) << call.target;
  }
}

TEST(HloCostTest, WhatHasNoRuleIsUnknown) {
  for (const char* opcode : {"while", "conditional", "copy-start", "copy-done", "custom-call",
                             "batch-norm-training", "topk", "async-start"}) {
    HloMaker maker;
    const int64_t input = maker.Parameter(0, kF32, {8});
    const int64_t made = maker.Add(opcode, kF32, {8}, {input});
    const std::string bytes = maker.Bytes();
    const Program program(bytes);
    Costs costs(program, CostRules::kGpu);
    EXPECT_FALSE(costs.Of(*program.Find(made)).knows_flops) << opcode;
  }
}

// A damaged program may call itself, and name what it does not have.
TEST(HloCostTest, AProgramThatCallsItselfIsUnknown) {
  HloMaker maker;
  const int64_t input = maker.Parameter(0, kF32, {8});
  const int64_t call = maker.Add("call", kF32, {8}, {input}, Field(38, HloMaker::kEntry));
  const int64_t lost = maker.Add("fusion", kF32, {8}, {12345}, Field(38, 999));
  const std::string bytes = maker.Bytes();
  const Program program(bytes);
  Costs costs(program, CostRules::kGpu);
  EXPECT_FALSE(costs.Of(*program.Find(call)).knows_flops);
  EXPECT_FALSE(costs.Of(*program.Find(lost)).knows_bytes);
}

// Any bytes: neither a crash, nor a run without end.
TEST(HloCostTest, DamagedProgramsAreRead) {
  const std::string whole = test::ManyInstructions();
  std::mt19937 chance(7);
  for (int run = 0; run < 3000; ++run) {
    std::string bytes = whole;
    const int changes = 1 + static_cast<int>(chance() % 6);
    for (int i = 0; i < changes; ++i)
      bytes[chance() % bytes.size()] = static_cast<char>(chance() & 0xff);
    if (run % 5 == 0) bytes.resize(chance() % bytes.size());
    const Program program(bytes);
    for (const CostRules rules : {CostRules::kGpu, CostRules::kXla, CostRules::kXprofGpu}) {
      Costs costs(program, rules);
      for (const Computation& computation : program.computations)
        for (const Instruction& instruction : computation.instructions) costs.Of(instruction);
    }
  }
  const Program program(whole);
  EXPECT_TRUE(program.is_whole);
  Costs costs(program, CostRules::kGpu);
  EXPECT_GT(costs.Of(*program.entry()).flops, 0);
}

}  // namespace
}  // namespace gpuprof::analysis::hlo
