// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the name of an operation says: its type, the scopes in which it lies, and whether it runs
// compiled code. The names are those of PyTorch, TensorFlow, JAX and XLA. Pure, any thread.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::analysis {

// Returns the type of an operation: equal for operations that do the same.
//   "aten::add_", "aten::add"                    "add"
//   "autograd::engine::evaluate_function: MmBackward0"  "MmBackward0"
//   "model/dense/MatMul:MatMul"                  "MatMul"
//   "jit(f)/jit(main)/dot_general[...]:"         "dot_general"
//   "ProfilerStep#6"                             "ProfilerStep"
std::string OpTypeOf(std::string_view name);

// Returns the type of an operation of HLO: "fusion" of "fusion.3".
std::string HloTypeOf(std::string_view name);

// Returns the scopes of a name of TensorFlow or JAX, outermost first: "jit(f)", "jit(main)" of
// "jit(f)/jit(main)/dot_general". Empty: the name has no scopes.
std::vector<std::string_view> ScopesOf(std::string_view name);

// Returns whether the name is of a region of compiled code: what torch.compile made, or its
// kernels.
bool IsCompiledRegion(std::string_view name);
// Returns whether the name is of TensorFlow's eager executor.
bool IsEagerRegion(std::string_view name);
// Returns whether a compiler of a framework made the kernel, by its name: TorchInductor, nvFuser.
bool IsCompiledKernel(std::string_view name);

}  // namespace gpuprof::analysis
