// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels of a GPU get the lines that torch.compile told for their names.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "analysis/passes/passes.h"
#include "proto/compiled_names.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/meta.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

class Told {
 public:
  explicit Told(ProcessBuilder* builder) : builder_(builder), track_(&builder->Thread(77)) {}

  Told& Kernel(const std::string& name, const std::string& operations, int64_t line = 40) {
    Row(proto::kCompiledKernel, name, line);
    Row(proto::kCompiledFile, "/cache/graph.py", 0);
    if (!operations.empty()) Row(proto::kCompiledOperations, operations, 0);
    return *this;
  }
  Told& Source(const std::string& file, int64_t line, const std::string& function) {
    Row(proto::kCompiledSource, file, line);
    Row(proto::kCompiledFunction, function, 0);
    Row(proto::kCompiledCode, "y = x", 0);
    return *this;
  }

 private:
  void Row(std::string_view name, const std::string& text, int64_t value) {
    track_->OpValue(builder_->Id(std::string(name)), value, 500 * kMs, builder_->Id(text));
  }

  ProcessBuilder* builder_;
  TrackBuilder* track_;
};

results::Kernels RunBy(const Trace& trace, const std::string& by) {
  PassOptions options;
  options.by = by;
  return RunPass<results::Kernels>("kernels", trace, options);
}

TEST(CompiledRows, KernelsHaveTheirLinesAndOperations) {
  ProcessBuilder builder(5, 1);
  const uint32_t relu = builder.Signature("triton_poi_fused_add_relu_0", 64, 256);
  const uint32_t other = builder.Signature("mm", 1, 32);
  builder.Stream(0, 1, 7).Kernel(relu, 1 * kMs, 5 * kMs, 11).Kernel(other, 6 * kMs, 7 * kMs, 12);
  Told(&builder)
      .Kernel("cpp_fused_sin_0", "")
      .Kernel("triton_poi_fused_add_relu_0", "aten.add, aten.relu")
      .Source("/src/model.py", 14, "forward");
  const results::Kernels result = RunBy(MakeTrace({&builder}), "name");
  ASSERT_EQ(result.kernels_size(), 2);
  EXPECT_EQ(result.kernels(0).source(), "model.py:14 in forward");
  ASSERT_EQ(result.kernels(0).fused_operations_size(), 2);
  EXPECT_EQ(result.kernels(0).fused_operations(0), "add");
  EXPECT_EQ(result.kernels(0).fused_operations(1), "relu");
  EXPECT_FALSE(result.kernels(1).has_source());
  ASSERT_EQ(result.compiled_kernels_size(), 2);
  const results::CompiledKernel& compiled = result.compiled_kernels(0);
  EXPECT_EQ(compiled.name(), "triton_poi_fused_add_relu_0") << "what ran comes first";
  EXPECT_EQ(compiled.launch_count(), 1u);
  EXPECT_EQ(compiled.generated_file(), "/cache/graph.py");
  EXPECT_EQ(compiled.generated_line(), 40u);
  ASSERT_EQ(compiled.sources_size(), 1);
  EXPECT_EQ(compiled.sources(0).code(), "y = x");
  EXPECT_EQ(result.compiled_kernels(1).launch_count(), 0u);
  EXPECT_FALSE(result.compiled_kernels(1).has_source());
}

TEST(CompiledRows, OneNameInSeveralGraphsHasAllPlaces) {
  ProcessBuilder builder(5, 1);
  const uint32_t add = builder.Signature("triton_poi_fused_add_0", 64, 256);
  builder.Stream(0, 1, 7).Kernel(add, 1 * kMs, 5 * kMs, 11);
  Told(&builder)
      .Kernel("triton_poi_fused_add_0", "aten.add", 10)
      .Source("a.py", 1, "f")
      .Source("a.py", 2, "f")
      .Kernel("triton_poi_fused_add_0", "aten.add", 90)
      .Source("b.py", 3, "g")
      .Kernel("triton_poi_fused_add_0", "aten.add", 90);  // told again by a flight recorder
  const results::Kernels result = RunBy(MakeTrace({&builder}), "name");
  EXPECT_EQ(result.kernels(0).source(), "a.py:1 in f, a.py:2 in f, and 1 more");
  EXPECT_EQ(result.kernels(0).fused_operations_size(), 1);
  EXPECT_EQ(result.compiled_kernels_size(), 2);
}

TEST(CompiledRows, ARowOfSeveralKernelsHasNoLine) {
  ProcessBuilder builder(5, 1);
  const uint32_t add = builder.Signature("triton_poi_fused_add_0", 64, 256);
  builder.Stream(0, 1, 7).Kernel(add, 1 * kMs, 5 * kMs, 11);
  Told(&builder).Kernel("triton_poi_fused_add_0", "aten.add").Source("a.py", 1, "f");
  const Trace trace = MakeTrace({&builder});
  for (const std::string by : {"stream", "family"})
    EXPECT_FALSE(RunBy(trace, by).kernels(0).has_source()) << by;
  EXPECT_EQ(RunBy(trace, "op").kernels(0).source(), "a.py:1 in f");
  EXPECT_EQ(RunBy(trace, "signature").kernels(0).source(), "a.py:1 in f");
}

TEST(CompiledRows, ImportedLaunchesNameTheFile) {
  ProcessBuilder builder(5, 1);
  const uint32_t add = builder.Signature("triton_poi_fused_add_0", 64, 256);
  builder.Stream(0, 1, 7).Kernel(add, 1 * kMs, 5 * kMs, 11);
  const std::string detail =
      R"({"kernel_backend":"triton","kernel_file":"/cache/k.py","kernel_name":"triton_poi_fused_add_0"})";
  for (int64_t at : {0, 10})
    builder.Thread(5).Op("triton_poi_fused_add_0", at * kMs, at * kMs + kMs);
  const uint32_t id = builder.Id(detail);
  Trace trace = MakeTrace({&builder});
  for (Track& track : trace.processes[0].tracks)
    for (size_t i = 0; i < track.op.rows(); ++i) track.op.detail.push_back(id);
  const results::Kernels result = RunBy(trace, "name");
  ASSERT_EQ(result.compiled_kernels_size(), 1);
  EXPECT_EQ(result.compiled_kernels(0).generated_file(), "/cache/k.py");
  EXPECT_EQ(result.compiled_kernels(0).launch_count(), 1u);
  EXPECT_FALSE(result.compiled_kernels(0).has_generated_line());
}

TEST(CompiledRows, ValuesThatBeginNoKernelSayNothing) {
  ProcessBuilder builder(5, 1);
  builder.Stream(0, 1, 7).Kernel(builder.Signature("k", 1, 32), 1 * kMs, 5 * kMs, 11);
  Told(&builder).Source("a.py", 1, "f").Kernel("", "").Source("b.py", -3, "");
  const results::Kernels result = RunBy(MakeTrace({&builder}), "name");
  EXPECT_FALSE(result.kernels(0).has_source());
  ASSERT_EQ(result.compiled_kernels_size(), 1);
  EXPECT_EQ(result.compiled_kernels(0).sources(0).line(), 0u);
}

}  // namespace
}  // namespace gpuprof::analysis::test
