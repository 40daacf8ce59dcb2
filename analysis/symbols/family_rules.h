// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rules by which kernel_family.cc finds families: tables, in one file. In each the first rule
// that holds decides. tests/golden/kernel_families.txt has the families of the kernels of real
// traces.

#pragma once

#include <span>
#include <string_view>

#include "proto/kinds/kernels.pb.h"

namespace gpuprof::analysis {

// `words` stand next to each other in an identifier, however it joins them: "all reduce" is in
// all_reduce, AllReduce, all-reduce and allreduce. A star at an end stands for the rest of a word:
// "nccl*", "*gemm".
struct FamilyRule {
  std::string_view words;
  results::KernelFamily family;
};

// Returns namespaces of C++ by their exact names: "deep_ep::layout". They decide before the words
// do.
std::span<const FamilyRule> NamespaceFamilies();
// Returns rules for the words of a kernel's function.
std::span<const FamilyRule> FunctionFamilies();
// Returns rules for the words of a function object that a kernel applies to each element. The short
// names of kernels have these words.
std::span<const FamilyRule> FunctorFamilies();
// Returns rules for the opcodes of XLA's instructions.
std::span<const FamilyRule> InstructionFamilies();

// Returns names of operations that only move or convert data. Compilers join them to names of
// kernels.
std::span<const std::string_view> MovingWords();
// Returns words of compilers that say nothing of what a kernel does.
std::span<const std::string_view> FusionWords();
// Returns templates that only launch another kernel, which is their first argument with arguments,
// or their only one.
std::span<const std::string_view> KernelLaunchers();

}  // namespace gpuprof::analysis
