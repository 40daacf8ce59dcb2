// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Addresses at which several modules lay, one after another: a program that loads and unloads
// plugins has them. A program counter there belongs to the module that was there at the time of its
// row. Those of modules that an address alone would not lead to are moved (model/modules.h): their
// rows get stacks of their own, and the process a second entry of the module, where they lead to.
//
// A module counts from when the one before it was gone, and not from when it was first seen: its
// constructors ran before. For LoadEvents, on one thread, when all rows are there.

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// One time that a module was loaded.
struct ModuleStay {
  size_t module;   // index into the process's modules
  int64_t end_ns;  // when it was seen to be gone; INT64_MAX: never
};

// `stays` in the order in which they began. With `at_once` all rows are of the time of the first
// one: of a process with the modules that its parent had when it was made.
void SeparateReusedAddresses(const std::vector<ModuleStay>& stays, bool at_once, Process* process);

}  // namespace gpuprof::analysis
