// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/op_names.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::analysis {
namespace {

TEST(OpNames, OperationsThatDoTheSameHaveOneType) {
  const std::pair<std::string_view, std::string_view> types[] = {
      {"aten::add", "add"},
      {"aten::add_", "add"},
      {"aten::_softmax", "_softmax"},
      {"aten::__and__", "__and__"},
      {"autograd::engine::evaluate_function: MmBackward0", "MmBackward0"},
      {"MmBackward0", "MmBackward0"},
      {"nccl:all_reduce", "all_reduce"},
      {"model/dense/MatMul:MatMul", "MatMul"},
      {"model/dense/MatMul_3:", "MatMul"},
      {"jit(f)/jit(main)/dot_general[dimension_numbers=((1,), (0,))]:", "dot_general"},
      {"jit(f)/transpose(jvp(a/b))/mul", "mul"},
      {"Iterator::Root::Prefetch", "Dataset"},
      {"ProfilerStep#6", "ProfilerStep"},
      {"Optimizer.step#SGD.step", "Optimizer.step#SGD.step"},
      {"[param|x|0|forward]", "[param|x|0|forward]"},
      {"", ""},
      {":", ""},
      {"_", "_"},
  };
  for (const auto& [name, type] : types) EXPECT_EQ(OpTypeOf(name), type) << name;
  EXPECT_EQ(HloTypeOf("fusion.3"), "fusion");
  EXPECT_EQ(HloTypeOf("loop_add_fusion"), "loop_add_fusion");
  EXPECT_EQ(HloTypeOf(".3"), ".3");
}

TEST(OpNames, ScopesAreWhatStandsBeforeTheType) {
  using Scopes = std::vector<std::string_view>;
  EXPECT_EQ(ScopesOf("jit(f)/jit(main)/dot_general:"), (Scopes{"jit(f)", "jit(main)"}));
  EXPECT_EQ(ScopesOf("jit(f)/transpose(jvp(a/b))/mul"), (Scopes{"jit(f)", "transpose(jvp(a/b))"}));
  EXPECT_EQ(ScopesOf("model/dense/MatMul:MatMul"), (Scopes{"model", "dense"}));
  EXPECT_TRUE(ScopesOf("aten::add").empty());
  EXPECT_TRUE(ScopesOf("XlaModule:").empty());
  EXPECT_TRUE(ScopesOf("").empty());
  EXPECT_TRUE(ScopesOf("/").empty());
  EXPECT_TRUE(ScopesOf("http://a/b").empty());
}

TEST(OpNames, CompilersNameTheirRegionsAndKernels) {
  for (const std::string_view name :
       {"Torch-Compiled Region: 0/0", "CompiledFunction", "CompiledFunctionBackward",
        "## Call CompiledFxGraph fabc ##", "triton_poi_fused_add_0"})
    EXPECT_TRUE(IsCompiledRegion(name)) << name;
  EXPECT_FALSE(IsCompiledRegion("aten::add"));
  EXPECT_FALSE(IsCompiledRegion("TorchDynamo Cache Lookup"));
  EXPECT_TRUE(IsCompiledKernel("triton_red_fused_mean_3"));
  EXPECT_FALSE(IsCompiledKernel("_matmul_kernel"));
  EXPECT_TRUE(IsEagerRegion("EagerLocalExecute: MatMul"));
}

}  // namespace
}  // namespace gpuprof::analysis
