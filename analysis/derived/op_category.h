// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What an operation of a framework is for: compiling, waiting for a result, a transfer. By names
// that PyTorch, TensorFlow and JAX give, and by scopes. The table in op_category.cc has the names.
// Pure, any thread.
//
// What runs within tracing, compiling, input, a backward pass or an optimizer belongs to it, unless
// it waits or transfers.

#pragma once

#include <cstdint>
#include <string_view>

#include "proto/record.h"

namespace gpuprof::analysis {

enum class OpCategory : uint8_t {
  kOperation,      // computes, or none of the others
  kTracing,        // a framework follows Python code to make a program
  kCompiling,      // a compiler makes code of a program
  kDispatch,       // calls of compiled functions, and what begins their execution
  kWaiting,        // a thread waits for results
  kTransfer,       // values go to a device or come from it
  kInput,          // datasets and loaders
  kCommunication,  // between processes
  kBackward,       // autograd's nodes
  kOptimizer,
  kRange  // the program named it itself
};

// Returns the words for a category.
std::string_view OpCategoryName(OpCategory category);

// Returns the category of an operation by itself.
OpCategory OpCategoryOf(std::string_view name, proto::OpScope scope);

// Returns the category of an operation that has `own` by itself, within one of the category
// `around`.
OpCategory CategoryWithin(OpCategory around, OpCategory own);

}  // namespace gpuprof::analysis
