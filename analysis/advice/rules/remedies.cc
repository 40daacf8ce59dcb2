// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See remedies.h.

#include "analysis/advice/rules/remedies.h"

#include <string>
#include <string_view>

#include "analysis/advice/rules/rule_parts.h"

namespace gpuprof::analysis {
namespace {

constexpr unsigned kTorch = 1, kTensorFlow = 2, kJax = 4, kPlain = 8;
constexpr unsigned kAny = kTorch | kTensorFlow | kJax | kPlain;

// A row for each rule and change. `second` is a variable that belongs to the first one.
struct Row {
  std::string_view rule;
  unsigned frameworks;
  std::string_view name, value;
  const char* what;  // the code of what it does
  std::string_view second = {}, second_value = {};
  const char* caution = nullptr;  // the code of what else it changes
};

constexpr char kTf32Caution[] = "GP-006.caution_tf32";

// The variables as their makers document them: PyTorch's notes on CUDA, TensorFlow's and JAX's
// guides, the manuals of CUDA, NCCL and glibc.
constexpr Row kRows[] = {
    {"SY-002", kTorch, "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True",
     "all.remedy_expandable"},
    {"SY-002", kTensorFlow, "TF_GPU_ALLOCATOR", "cuda_malloc_async", "SY-002.remedy_pool"},
    {"ME-005", kTorch, "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True",
     "all.remedy_expandable"},
    {"LA-007", kAny, "CUDA_MODULE_LOADING", "EAGER", "LA-007.remedy_eager"},
    {"LA-001", kTensorFlow, "TF_GPU_THREAD_MODE", "gpu_private", "LA-001.remedy_threads"},
    {"GP-006",
     kTorch,
     "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
     "1",
     "GP-006.remedy_torch",
     {},
     {},
     kTf32Caution},
    {"GP-006",
     kJax,
     "JAX_DEFAULT_MATMUL_PRECISION",
     "tensorfloat32",
     "GP-006.remedy_jax",
     {},
     {},
     kTf32Caution},
    {"CO-001", kTorch, "CUDA_DEVICE_MAX_CONNECTIONS", "1", "CO-001.remedy_connections"},
    {"CO-001", kJax, "XLA_FLAGS", "--xla_gpu_enable_latency_hiding_scheduler=true",
     "CO-001.remedy_xla"},
    {"CO-006", kAny, "NCCL_MAX_CTAS", "8", "CO-006.remedy_ctas"},
    {"ME-006", kAny, "MALLOC_MMAP_MAX_", "0", "ME-006.remedy_mmap", "MALLOC_TRIM_THRESHOLD_",
     "17179869184"},
};

std::string_view ValueOf(const AdviceFacts& facts, std::string_view name) {
  for (const results::EnvironmentVariable& variable : facts.overview->environment().variables())
    if (variable.name() == name) return variable.value();
  return "";
}

unsigned FrameworkBit(const AdviceFacts& facts) {
  switch (FrameworkOf(facts)) {
    case Framework::kTorch:
      return kTorch;
    case Framework::kTensorFlow:
      return kTensorFlow;
    case Framework::kJax:
      return kJax;
    default:
      return kPlain;
  }
}

}  // namespace

void AddRemedy(std::string_view name, std::string_view value, const char* what, Finding* finding) {
  FindingRemedy& remedy = finding->remedies.emplace_back();
  remedy.what = what;
  remedy.variables.emplace_back(name, value);
}

void AddRemedies(const AdviceFacts& facts, Finding* finding) {
  const unsigned framework = FrameworkBit(facts);
  for (const Row& row : kRows) {
    if (row.rule != finding->id || (row.frameworks & framework) == 0) continue;
    if (!ValueOf(facts, row.name).empty()) continue;  // the user has chosen
    AddRemedy(row.name, row.value, row.what, finding);
    FindingRemedy& remedy = finding->remedies.back();
    if (!row.second.empty()) remedy.variables.emplace_back(row.second, row.second_value);
    if (row.caution != nullptr) remedy.caution = row.caution;
  }
}

}  // namespace gpuprof::analysis
