// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The family of a kernel: its purpose. The name alone decides, by the tables in family_rules.cc.
// Whether a kernel is a collective is part of the same answer. Everything that asks for the kind of
// a kernel asks here, also the pages. Users' own rules come before these:
// analysis/symbols/kernel_rule_file.h.
//
// Rules see the words of identifiers and no pieces of words: "sync_clock" has no "nccl". They do
// not see the types of arguments, which name libraries too.
//
// Pure functions, any thread.

#pragma once

#include <string_view>

#include "proto/kinds/kernels.pb.h"

namespace gpuprof::analysis {

// Returns the family of a kernel, never NONE. `name`: demangled, of a library, or an instruction of
// XLA ("%all-gather-start.5 = ..."). The work is linear in the name's length.
results::KernelFamily KernelFamilyOf(std::string_view name);

// Returns the family that a person's word names: "matrix", "normalization", "sort". NONE: no family
// is called so.
results::KernelFamily FamilyOfWord(std::string_view word);

// Returns the word of a family: "matrix". "": NONE.
std::string_view FamilyWord(results::KernelFamily family);

}  // namespace gpuprof::analysis
