// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Single words of a kernel's short name: types, shapes, what a function object is called. Part of
// kernel_names.cc. Pure; any thread.

#pragma once

#include <string>
#include <string_view>

#include "analysis/symbols/cxx_parts.h"

namespace gpuprof::analysis {

// Returns the number that an identifier is: "2" of "2ul", "128" of CuTe's "_128"; "" of others.
std::string_view NumberOf(std::string_view ident);

// Returns the word of a type of numbers, "f32"; "" of other names.
std::string TypeWord(const CxxName& name);

// Returns the first type of numbers among the arguments, however deep. Integers may be sizes, so
// they count only when there is no other type.
std::string FindType(const CxxName& name);

// Returns the first shape among the arguments: cute::tuple<C<128>, C<64>>, GemmShape<128, 128, 32>,
// sequence<128, 32>.
std::string FindTile(const CxxName& name);

// Returns Eigen's first scalar_sum_op among the arguments, as "sum".
std::string FindScalarOp(const CxxName& name);

// Returns "silu" of silu_kernel and "gelu" of GeluCUDAKernelImpl.
std::string StripAffixes(std::string_view ident);

}  // namespace gpuprof::analysis
