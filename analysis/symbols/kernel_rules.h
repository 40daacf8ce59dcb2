// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rules by which kernel_names.cc shortens the names of kernels: tables, in one file. To add a
// family of kernels, add lines to kernel_rules.cc and pairs to tests/golden/kernel_names.txt.

#pragma once

#include <span>
#include <string_view>

namespace gpuprof::analysis {

// A kernel that is a C++ function. `function` is the last component of its name, or the last two
// ("gemvx::kernel"); a star at its end stands for any rest. `layout` is the short name, in words:
//   {2}      the second template argument, {2.1} the first argument of that; {2..5} several, by "x"
//   {2?yes}  the word where that argument is true, {2?yes:no}
//   {2!}     the word, unless that argument is a type of numbers
//   {type}   the first type of numbers among the arguments, {1:type} within the first argument
//   {tile}   the first shape among the arguments, "128x128x64"
//   {op}     the function object of an elementwise kernel: what it does, and the type it reads
//   {cast}   "cast" where it converts as it loads
//   {agent}  the first argument that has arguments of its own
//   {scalar} Eigen's first scalar_..._op
// A word with a placeholder that finds nothing is left out.
struct KernelFunctionRule {
  std::string_view function, layout;
};
std::span<const KernelFunctionRule> KernelFunctionRules();

// What a function object does, by its identifier; those without a line lose their affixes.
struct FunctorRule {
  std::string_view functor, op;
};
std::span<const FunctorRule> FunctorRules();

// Templates that hold the function object as the argument of that number, counted from 1.
struct FunctorHolder {
  std::string_view holder;
  size_t argument;
};
std::span<const FunctorHolder> FunctorHolders();

// Returns the words at a functor's begin and end that say nothing.
std::span<const std::string_view> FunctorPrefixes();
std::span<const std::string_view> FunctorSuffixes();

// Types of numbers, without their namespaces.
struct TypeRule {
  std::string_view type, word;
};
std::span<const TypeRule> TypeRules();

// Kernels of libraries whose whole name is one identifier: `prefix` begins it and `piece` stands in
// it. The first that holds decides what the kernel does.
struct LibraryRule {
  std::string_view piece, what;
};
std::span<const std::string_view> LibraryPrefixes();
std::span<const LibraryRule> LibraryRules();
// Returns the types, by the first characters of a piece between underscores.
std::span<const TypeRule> LibraryTypes();
// Returns the types by the text before "gemm", "cudnn" and similar words, for names in which no
// piece is a type.
std::span<const TypeRule> LibraryInstructions();
// Pieces that tell kernels apart, as they are shown.
std::span<const TypeRule> LibraryMarks();

}  // namespace gpuprof::analysis
