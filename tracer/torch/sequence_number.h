// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Autograd's numbers of ops. An op of the forward pass has the number that autograd gives next on
// its thread, and so the node that the op makes has this number. The node's op of the backward pass
// has it again.
//
// Where at::RecordFunction keeps the number depends on the version of PyTorch. So the place is
// learned from the program's ops: it is the only word that is always -1 or the number that
// at::sequence_number::peek() returns. Without training the place is never learned, and no op has a
// number.

#pragma once

#include <cstdint>

#include "proto/operations.h"

namespace gpuprof::tracer {

// Sets the function that tells the next number of the thread; null: it is not known. Control
// thread, before the callbacks are registered.
void SequenceNumbersInit(uint64_t (*peek)());

// Returns autograd's number of an op that begins, plus 1; 0: it has none, or it is not known.
// `op`: its at::RecordFunction. In begin callbacks, on any thread; takes no lock.
uint64_t SequenceNumberOf(const void* op, proto::OpScope scope);

// In a forked child: another thread of the parent may have been learning.
void SequenceNumbersAfterFork();

}  // namespace gpuprof::tracer
