// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Framework ops of PyTorch: registers a global RecordFunction observer by symbol name, with no
// header of PyTorch.
//
// Attach, detach and the fork functions are called as stated below and never at the same time as
// each other. The callbacks run on the program's threads inside every op: they write into the
// thread's ring, never allocate, lock or block.

#pragma once

#include <cstdint>

#include "tracer/tracer.h"

namespace gpuprof::tracer {

struct TorchCounters {
  uint64_t unpaired;    // ops not recorded: their begin was on another thread or before the capture
  uint64_t async;       // ranges that end on another thread, and are not of gloo: not recorded
  uint64_t too_deep;    // ops not recorded: more than proto::kMaxOpenOps open on their thread
  uint64_t names_lost;  // ops recorded under the name "table full"
};

// Control thread, at the start of each capture and then on every tick: attaches when PyTorch is in
// the process. True when attached (also when it was before). Cheap while no module has been loaded
// since the last call. May wait for the loader's lock, and so until an `import torch` under way is
// complete.
bool TorchTryAttach(const Host* host);

// Control thread, at the end of a capture, after recording was switched off: takes the observer
// away. Ops that are running may still call back once; they then find recording off.
void TorchDetach();

// Control thread, now and then until it is true: from then on the host is told where a range ends
// that the program names itself (record_function; optimizers' steps are such), whether a capture
// runs or not. Operations are not observed by it and pay nothing. False: there is no PyTorch yet,
// or it cannot be observed.
bool TorchTryWatchRanges(const Host* host);

// "active", "none", or why not. Static storage. Any thread.
const char* TorchState();

TorchCounters ReadTorchCounters();

// "torch 2.13" once PyTorch was found and observed, else null. Static storage. Any thread.
const char* TorchFramework();

// Nanoseconds that observation costs each op, measured in this process: what PyTorch spends on
// calling observers, when it was found, and our two callbacks, where they run. 0: not measured yet.
// Any thread.
uint32_t TorchOpCostNs();

// Why the inputs of operations are not recorded, or not of all in a window. Null: they are, or
// nobody asks for them. Static storage. Drain thread.
const char* TorchInputsNote();

// When the process begins another file (after an exec that failed): names are defined again. No op
// may be observed then.
void TorchBeginFile();

// Around fork, on the forking thread. Before: waits (at most 10 ms) until no attach or detach is
// under way.
void TorchBeforeFork();
void TorchAfterForkParent();
// The observer stays registered in the child (its memory is a copy); names are defined anew in the
// child's own file. The child's control thread goes on with TorchTryAttach, or TorchDetach when the
// child does not record.
void TorchAfterForkChild();

}  // namespace gpuprof::tracer
