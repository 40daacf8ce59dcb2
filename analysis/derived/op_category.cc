// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See op_category.h.

#include "analysis/derived/op_category.h"

#include "analysis/steps/op_tree.h"

namespace gpuprof::analysis {
namespace {

enum class NameMatch : uint8_t { kBegins, kContains };

struct NamedCategory {
  NameMatch match;
  std::string_view text;
  OpCategory category;
};

// The first that matches counts.
constexpr NamedCategory kNamedCategories[] = {
    {NameMatch::kBegins, "trace_to_jaxpr", OpCategory::kTracing},  // JAX
    {NameMatch::kBegins, "lower_sharding_computation", OpCategory::kTracing},
    {NameMatch::kBegins, "backend_compile", OpCategory::kCompiling},
    {NameMatch::kBegins, "TaskDispatcher::dispatch", OpCategory::kCompiling},  // XLA's JIT
    {NameMatch::kContains, "Compile::", OpCategory::kCompiling},
    {NameMatch::kContains, "::Compile", OpCategory::kCompiling},
    {NameMatch::kContains, "Compiler::", OpCategory::kCompiling},
    {NameMatch::kBegins, "XlaCompile", OpCategory::kCompiling},
    {NameMatch::kContains, "::Await", OpCategory::kWaiting},
    {NameMatch::kContains, "block_until_ready", OpCategory::kWaiting},
    {NameMatch::kContains, "(wait for ", OpCategory::kWaiting},
    {NameMatch::kBegins, "Wait for ", OpCategory::kWaiting},
    {NameMatch::kBegins, "np.asarray(jax.Array)", OpCategory::kWaiting},
    {NameMatch::kContains, "DevicePut", OpCategory::kTransfer},
    {NameMatch::kContains, "CopyToDevice", OpCategory::kTransfer},
    {NameMatch::kContains, "copy_array_to_devices", OpCategory::kTransfer},
    {NameMatch::kBegins, "shard_args", OpCategory::kTransfer},
    {NameMatch::kContains, "TransferTo", OpCategory::kTransfer},
    {NameMatch::kContains, "TransferFrom", OpCategory::kTransfer},
    {NameMatch::kContains, "ToLiteral", OpCategory::kTransfer},
    {NameMatch::kBegins, "Iterator::", OpCategory::kInput},  // tf.data
    {NameMatch::kBegins, "c10d::", OpCategory::kCommunication},
    {NameMatch::kBegins, "nccl:", OpCategory::kCommunication},
    {NameMatch::kBegins, "gloo:", OpCategory::kCommunication},
    {NameMatch::kBegins, "PjitFunction", OpCategory::kDispatch},
    {NameMatch::kBegins, "ExecuteReplicated", OpCategory::kDispatch},
    {NameMatch::kBegins, "ParseArguments", OpCategory::kDispatch},
    {NameMatch::kContains, "::ExecuteHelper", OpCategory::kDispatch},
    {NameMatch::kContains, "::ExecutePrepare", OpCategory::kDispatch},
    {NameMatch::kContains, "::CreateOutputs", OpCategory::kDispatch},
    {NameMatch::kBegins, "AllocateOutputBuffers", OpCategory::kDispatch},
    {NameMatch::kBegins, "Handle input", OpCategory::kDispatch},
    {NameMatch::kBegins, "FunctionRun", OpCategory::kDispatch},  // TensorFlow
    {NameMatch::kBegins, "EagerExecute", OpCategory::kDispatch},
    {NameMatch::kBegins, "EagerLocalExecute", OpCategory::kDispatch},
    {NameMatch::kBegins, "EagerKernelExecute", OpCategory::kDispatch},
    {NameMatch::kBegins, "ExecutorState::", OpCategory::kDispatch},
};

bool IsNamedBy(const NamedCategory& named, std::string_view name) {
  if (named.match == NameMatch::kBegins) return name.substr(0, named.text.size()) == named.text;
  return name.find(named.text) != std::string_view::npos;
}

}  // namespace

std::string_view OpCategoryName(OpCategory category) {
  switch (category) {
    case OpCategory::kTracing:
      return "tracing";
    case OpCategory::kCompiling:
      return "compiling";
    case OpCategory::kDispatch:
      return "dispatch";
    case OpCategory::kWaiting:
      return "waiting";
    case OpCategory::kTransfer:
      return "transfers";
    case OpCategory::kInput:
      return "input";
    case OpCategory::kCommunication:
      return "communication";
    case OpCategory::kBackward:
      return "backward";
    case OpCategory::kOptimizer:
      return "optimizer";
    case OpCategory::kRange:
      return "ranges";
    default:
      return "operations";
  }
}

OpCategory OpCategoryOf(std::string_view name, proto::OpScope scope) {
  switch (KindOfName(name)) {
    case NameKind::kOptimizerStep:
    case NameKind::kZeroGrad:
      return OpCategory::kOptimizer;
    case NameKind::kLoaderNext:
      return OpCategory::kInput;
    case NameKind::kAutograd:
      return OpCategory::kBackward;
    case NameKind::kAnnotation:
      return OpCategory::kRange;
    case NameKind::kPlain:
      break;
  }
  if (scope == proto::OpScope::kBackward) return OpCategory::kBackward;
  for (const NamedCategory& named : kNamedCategories) {
    if (IsNamedBy(named, name)) return named.category;
  }
  return scope == proto::OpScope::kUser ? OpCategory::kRange : OpCategory::kOperation;
}

OpCategory CategoryWithin(OpCategory around, OpCategory own) {
  if (own != OpCategory::kOperation && own != OpCategory::kDispatch) return own;
  switch (around) {
    case OpCategory::kTracing:
    case OpCategory::kCompiling:
    case OpCategory::kInput:
    case OpCategory::kBackward:
    case OpCategory::kOptimizer:
      return around;
    default:
      return own;
  }
}

}  // namespace gpuprof::analysis
