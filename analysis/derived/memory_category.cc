// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See memory_category.h.

#include "analysis/derived/memory_category.h"

#include <cctype>
#include <string>

namespace gpuprof::analysis {
namespace {

// How a word stands in a name.
enum class WordAt : uint8_t { kAnywhere, kBegin, kWhole };

struct MemoryRule {
  results::MemoryCategory category;
  bool is_of_file;  // of the file's name with its folder, else of the function
  WordAt at;
  std::string_view word;  // in small letters
};

using enum WordAt;
constexpr results::MemoryCategory kNothing = results::MEMORY_CATEGORY_UNKNOWN,
                                  kParameters = results::MEMORY_CATEGORY_PARAMETERS,
                                  kGradients = results::MEMORY_CATEGORY_GRADIENTS,
                                  kOptimizer = results::MEMORY_CATEGORY_OPTIMIZER_STATE,
                                  kActivations = results::MEMORY_CATEGORY_ACTIVATIONS,
                                  kTemporary = results::MEMORY_CATEGORY_TEMPORARY,
                                  kCommunication = results::MEMORY_CATEGORY_COMMUNICATION,
                                  kCache = results::MEMORY_CATEGORY_KV_CACHE,
                                  kGraphs = results::MEMORY_CATEGORY_GRAPHS;

// The first rule that fits a frame decides.
constexpr MemoryRule kMemoryRules[] = {
    {kGraphs, false, kWhole, "capture"},
    {kGraphs, false, kBegin, "capture_"},
    {kGraphs, false, kAnywhere, "cudagraph"},
    {kGraphs, false, kAnywhere, "cuda_graph"},
    {kGraphs, false, kAnywhere, "make_graphed_callables"},
    {kGraphs, true, kAnywhere, "cudagraph_trees"},
    {kCache, false, kAnywhere, "kv_cache"},
    {kCache, false, kAnywhere, "kvcache"},
    {kCache, false, kAnywhere, "key_value"},
    {kCache, true, kAnywhere, "kv_cache"},
    {kCache, true, kAnywhere, "kvcache"},
    {kCache, true, kAnywhere, "cache_utils"},
    {kCache, true, kAnywhere, "cache_engine"},
    {kCache, true, kAnywhere, "block_manager"},
    {kCache, true, kWhole, "cache.py"},
    {kCommunication, false, kAnywhere, "nccl"},
    {kCommunication, false, kAnywhere, "all_reduce"},
    {kCommunication, false, kAnywhere, "allreduce"},
    {kCommunication, false, kAnywhere, "all_gather"},
    {kCommunication, false, kAnywhere, "allgather"},
    {kCommunication, false, kAnywhere, "reduce_scatter"},
    {kCommunication, false, kAnywhere, "all_to_all"},
    {kCommunication, false, kAnywhere, "alltoall"},
    {kCommunication, false, kAnywhere, "c10d::"},
    {kCommunication, false, kAnywhere, "_ddp_init_helper"},
    {kCommunication, true, kAnywhere, "distributed_c10d"},
    {kGradients, false, kAnywhere, "accumulategrad"},
    {kTemporary, false, kAnywhere, "checkpointfunctionbackward"},
    {kOptimizer, false, kWhole, "_init_group"},
    {kOptimizer, false, kWhole, "_init_state"},
    {kOptimizer, false, kWhole, "init_state"},
    {kOptimizer, false, kAnywhere, "optimizer_state"},
    {kTemporary, true, kWhole, "adamw.py"},
    {kTemporary, true, kWhole, "adam.py"},
    {kTemporary, true, kWhole, "sgd.py"},
    {kTemporary, true, kWhole, "lion.py"},
    {kTemporary, true, kWhole, "adafactor.py"},
    {kTemporary, true, kWhole, "rmsprop.py"},
    {kTemporary, true, kAnywhere, "/optim/"},
    {kTemporary, true, kAnywhere, "optimizer"},
    {kTemporary, false, kAnywhere, "clip_grad"},
    {kTemporary, false, kBegin, "autograd:"},
    {kTemporary, false, kAnywhere, "torch::autograd::"},
    {kTemporary, false, kAnywhere, "gradient_tape/"},
    {kTemporary, false, kAnywhere, "transpose(jvp("},
    {kTemporary, false, kWhole, "backward"},
    {kTemporary, false, kWhole, "_engine_run_backward"},
    {kParameters, false, kWhole, "__init__"},
    {kParameters, false, kWhole, "reset_parameters"},
    {kParameters, false, kWhole, "from_pretrained"},
    {kParameters, false, kAnywhere, "load_state_dict"},
    {kParameters, false, kAnywhere, "init_weights"},
    {kParameters, false, kAnywhere, "load_model"},
    {kParameters, false, kWhole, "_apply"},
    {kActivations, false, kWhole, "forward"},
    {kActivations, false, kWhole, "_call_impl"},
    {kActivations, false, kAnywhere, "nn.module:"},
    {kActivations, false, kAnywhere, "prefill"},
    {kActivations, false, kAnywhere, "decode"},
    {kActivations, false, kAnywhere, "loss"},
    {kActivations, false, kAnywhere, "criterion"},
    {kActivations, false, kAnywhere, "to_device"},
    {kActivations, false, kAnywhere, "collate"},
    {kActivations, true, kAnywhere, "dataloader"},
    {kActivations, true, kWhole, "loader.py"},
};

bool FitsMemoryRule(std::string_view text, const MemoryRule& rule) {
  if (rule.at == kWhole) return text == rule.word;
  const size_t at = text.find(rule.word);
  return rule.at == kBegin ? at == 0 : at != std::string_view::npos;
}

std::string InSmallLetters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

}  // namespace

results::MemoryCategory CategoryOfFrame(const MemoryFrame& frame) {
  const std::string function = InSmallLetters(frame.function), file = InSmallLetters(frame.file);
  // A node of autograd or its operation: "MmBackward0", "aten::nll_loss_backward".
  const size_t at = function.find("backward");
  if (at != std::string::npos && at != 0 && function.size() - at <= 9) return kTemporary;
  const std::string_view name =
      std::string_view(file).substr(file.find_last_of('/') + 1);  // npos + 1 is 0
  for (const MemoryRule& rule : kMemoryRules) {
    const std::string_view text = !rule.is_of_file    ? std::string_view(function)
                                  : rule.at == kWhole ? name
                                                      : std::string_view(file);
    if (FitsMemoryRule(text, rule)) return rule.category;
  }
  return kNothing;
}

void MemoryJudge::Add(results::MemoryCategory of_frame) {
  const bool is_new = category_ == kNothing;
  // A forward pass makes objects, and a graph captures a forward pass.
  const bool is_forward = category_ == kParameters && of_frame == kActivations;
  const bool is_captured = category_ == kActivations && of_frame == kGraphs;
  if (is_new || is_forward || is_captured) category_ = of_frame;
}

}  // namespace gpuprof::analysis
