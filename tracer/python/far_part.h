// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where the rest of a function is. Compilers lay parts of a function that seem to run seldom far
// from its begin. Builds of CPython have most of the interpreter's loop there, and symbol tables of
// installed programs do not name it. The function's jumps lead to it, and its own lead back.
//
// Plain data. Any thread; reads some 100 KB of machine code.

#pragma once

#include <cstdint>

#include "tracer/stack/modules.h"

namespace gpuprof::tracer {

struct CodePart {
  uint64_t begin = 0, end = 0;

  bool Has(uint64_t address) const { return address - begin < end - begin; }
};

// Returns the part of a function that is not in `near`, its part by its symbol; empty: there is
// none, or the object's unwind tables do not tell.
CodePart FarPartOf(const CodePart& near, const CodeObject& object);

}  // namespace gpuprof::tracer
