// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How much an operation computes and moves, by the shapes of its inputs. Both are what the
// operation needs at least: a kernel may compute more, and may move data several times or find them
// in a cache. Pure, any thread.
//
// Floating-point operations, a multiplication and an addition counted as two:
//   mm, addmm, bmm, baddbmm   2 * batches * rows * columns * depth
//   convolution               2 * outputs * input channels of a group * elements of the kernel
//   its backward pass         twice that: for the input and for the weights
//   attention                 4 * batches * heads * queries * keys * head size; half if it is
//                             causal; the backward pass 2.5 times that

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/derived/row_details.h"

namespace gpuprof::analysis {

// Returns how many floating-point operations an operation of PyTorch needs. None: the operation is
// not one of those above, or its shapes are not in the trace.
std::optional<uint64_t> FlopsOf(std::string_view op, const RowDetail& detail);

// Returns how many bytes an operation that handles element by element reads and writes: its inputs
// and one output. None: the operation is of another kind, or shapes or types are not in the
// trace.
std::optional<uint64_t> ElementwiseBytesOf(std::string_view op, const RowDetail& detail);

// Returns how many bytes a product of matrices or an attention reads and writes at least: its
// inputs and its output, each once. None: the operation is of another kind, or shapes or types are
// not in the trace.
std::optional<uint64_t> ProductBytesOf(std::string_view op, const RowDetail& detail);

// Returns whether tensor cores could do the operation: it multiplies matrices. By PyTorch's and
// TensorFlow's names.
bool IsTensorCoreEligible(std::string_view op);

}  // namespace gpuprof::analysis
