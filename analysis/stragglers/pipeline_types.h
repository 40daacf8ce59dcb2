// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The types of operations that a pipeline-parallel job records of itself. Pure.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpuprof::analysis {

enum class PipelineType : uint8_t {
  kForward,
  kBackward,
  kForwardSend,
  kForwardReceive,
  kBackwardSend,
  kBackwardReceive,
  kGatherParameters,
  kScatterGradients,
  kCollectGarbage,
  kNormGradients,
  kEmbeddingGradients,
  kSeparateGradients,
  kClipGradients,
  kOptimizer
};

struct PipelineTypeRow {
  PipelineType type;
  std::string_view name;   // as tables have it
  std::string_view shown;  // sends and receives of a direction are one type
  bool is_transfer;        // its ideal time is the median
};

inline constexpr std::array<PipelineTypeRow, 14> kPipelineTypes = {{
    {PipelineType::kForward, "forward-compute", "forward-compute", false},
    {PipelineType::kBackward, "backward-compute", "backward-compute", false},
    {PipelineType::kForwardSend, "forward-send", "forward-pp-comm", true},
    {PipelineType::kForwardReceive, "forward-recv", "forward-pp-comm", true},
    {PipelineType::kBackwardSend, "backward-send", "backward-pp-comm", true},
    {PipelineType::kBackwardReceive, "backward-recv", "backward-pp-comm", true},
    {PipelineType::kGatherParameters, "params-all-gather", "params-all-gather", true},
    {PipelineType::kScatterGradients, "grads-reduce-scatter", "grads-reduce-scatter", true},
    {PipelineType::kCollectGarbage, "gc", "gc", false},
    {PipelineType::kNormGradients, "layernorm-grads-all-reduce", "layernorm-grads-all-reduce",
     true},
    {PipelineType::kEmbeddingGradients, "embedding-grads-all-reduce", "embedding-grads-all-reduce",
     true},
    {PipelineType::kSeparateGradients, "separate-grads-all-reduce", "separate-grads-all-reduce",
     true},
    {PipelineType::kClipGradients, "optimizer-clip-main-grad", "optimizer-clip-main-grad", true},
    {PipelineType::kOptimizer, "optimizer", "optimizer", false},
}};

}  // namespace gpuprof::analysis
