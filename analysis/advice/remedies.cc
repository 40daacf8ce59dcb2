// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See remedies.h.

#include "analysis/advice/remedies.h"

#include <string>
#include <string_view>

#include "analysis/advice/rule_parts.h"

namespace gpuprof::analysis {
namespace {

constexpr unsigned kTorch = 1, kTensorFlow = 2, kJax = 4, kPlain = 8;
constexpr unsigned kAny = kTorch | kTensorFlow | kJax | kPlain;

// A row for each rule and change. `second` is a variable that belongs to the first one.
struct Row {
  std::string_view rule;
  unsigned frameworks;
  std::string_view name, value;
  std::string_view what;
  std::string_view second = {}, second_value = {};
  std::string_view caution = {};
};

constexpr std::string_view kTf32Caution = "products have a mantissa of 10 bits: results differ";

// The variables as their makers document them: PyTorch's notes on CUDA, TensorFlow's and JAX's
// guides, the manuals of CUDA, NCCL and glibc.
constexpr Row kRows[] = {
    {"SY-002", kTorch, "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True",
     "PyTorch's allocator grows its blocks, and asks CUDA for fewer of them"},
    {"SY-002", kTensorFlow, "TF_GPU_ALLOCATOR", "cuda_malloc_async",
     "TensorFlow takes memory from CUDA's pool, which does not wait for the GPU"},
    {"ME-005", kTorch, "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True",
     "PyTorch's allocator grows its blocks, and asks CUDA for fewer of them"},
    {"LA-007", kAny, "CUDA_MODULE_LOADING", "EAGER",
     "CUDA loads all code when the program starts, and none within steps"},
    {"LA-001", kTensorFlow, "TF_GPU_THREAD_MODE", "gpu_private",
     "TensorFlow launches a GPU's work from threads that do nothing else"},
    {"GP-006",
     kTorch,
     "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
     "1",
     "PyTorch computes products of 32 bits on tensor cores",
     {},
     {},
     kTf32Caution},
    {"GP-006",
     kJax,
     "JAX_DEFAULT_MATMUL_PRECISION",
     "tensorfloat32",
     "JAX computes products of 32 bits on tensor cores",
     {},
     {},
     kTf32Caution},
    {"CO-001", kTorch, "CUDA_DEVICE_MAX_CONNECTIONS", "1",
     "the GPU begins kernels in the order of their launches, collectives first"},
    {"CO-001", kJax, "XLA_FLAGS", "--xla_gpu_enable_latency_hiding_scheduler=true",
     "XLA moves collectives so that other work hides them"},
    {"CO-006", kAny, "NCCL_MAX_CTAS", "8", "NCCL's kernels leave more multiprocessors to others"},
    {"ME-006", kAny, "MALLOC_MMAP_MAX_", "0",
     "glibc keeps large blocks instead of mapping them anew each time", "MALLOC_TRIM_THRESHOLD_",
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

void AddVariable(std::string_view name, std::string_view value, results::Remedy* remedy) {
  results::EnvironmentVariable* variable = remedy->add_variables();
  variable->set_name(std::string(name));
  variable->set_value(std::string(value));
}

}  // namespace

void AddRemedy(std::string_view name, std::string_view value, std::string_view what,
               results::Finding* finding) {
  results::Remedy* remedy = finding->add_remedies();
  remedy->set_what(std::string(what));
  AddVariable(name, value, remedy);
}

void AddRemedies(const AdviceFacts& facts, results::Finding* finding) {
  const unsigned framework = FrameworkBit(facts);
  for (const Row& row : kRows) {
    if (row.rule != finding->id() || (row.frameworks & framework) == 0) continue;
    if (!ValueOf(facts, row.name).empty()) continue;  // the user has chosen
    AddRemedy(row.name, row.value, row.what, finding);
    results::Remedy* remedy = finding->mutable_remedies(finding->remedies_size() - 1);
    if (!row.second.empty()) AddVariable(row.second, row.second_value, remedy);
    remedy->set_caution(std::string(row.caution));
  }
}

}  // namespace gpuprof::analysis
