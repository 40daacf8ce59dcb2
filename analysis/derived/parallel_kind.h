// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a group of ranks is for: which dimension of a parallel program. Its name tells it as a rule:
// those of PyTorch's meshes, of Megatron, vLLM, SGLang and DeepSpeed. Otherwise its collectives and
// its ranks tell it, with less confidence. Pure, any thread.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/derived/communicators.h"

namespace gpuprof::analysis {

enum class ParallelKind : uint8_t {
  kUnknown,
  kAll,  // all ranks of the job
  kData,
  kTensor,
  kPipeline,
  kExpert,
  kContext,
  kEmbedding,  // the first and the last stage of a pipeline, which share an embedding
  kSeveral,    // several dimensions at once
};

enum class KindSource : uint8_t { kNone, kName, kOperations, kRanks };

struct ParallelGuess {
  ParallelKind kind = ParallelKind::kUnknown;
  KindSource source = KindSource::kNone;
};

// Returns what the name of a group says: "mesh_dp", "TENSOR_MODEL_PARALLEL_GROUP", "tp:0".
ParallelKind KindOfGroupName(std::string_view name);

// Returns what each of the groups is for. `job_ranks`: how many ranks the job has; 0: not known.
std::vector<ParallelGuess> GuessKinds(const std::vector<const Communicator*>& groups,
                                      size_t job_ranks);

}  // namespace gpuprof::analysis
