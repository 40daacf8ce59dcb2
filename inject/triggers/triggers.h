// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Triggers: what happens in the program takes a snapshot of its flight recorder (GPUPROF_TRIGGER).
// A thread of the program only notes that a step was slow, and goes on. The control thread takes
// the snapshot. One snapshot is taken at a time, and then none for a while: triggers of that time
// are counted. A failed exit is the launcher's to see (launcher/verbs/run.cc).

#pragma once

#include <cstdint>

#include "proto/snapshot_request.h"

namespace gpuprof::inject {

// Reads the settings of triggers. Called by ReadSettings, behind those of the flight recorder.
[[gnu::cold]] void ReadTriggers() noexcept;

// Judges a step that has ended. `began_ns` is 0 for the first optimizer step, as PyTorch does not
// report its begin. Times are of the monotonic clock. On the thread of the program that is at the
// step, inside its call of NVTX or PyTorch: no heap, no lock, errno untouched.
[[gnu::cold]] void JudgeStep(uint64_t step, uint64_t began_ns, uint64_t now_ns) noexcept;
// Ranges are the steps from now on: steps so far were those of optimizers.
[[gnu::cold]] void ForgetSteps() noexcept;

// Looks for a stall, and takes the snapshot that a trigger wants. Control thread.
[[gnu::cold]] void RunTriggers(uint64_t now_ns) noexcept;

// Takes a snapshot, or says why there is none. Control thread.
[[gnu::cold]] void SnapshotOrSay(proto::SnapshotNumbers* numbers) noexcept;

// Reports at the program's end the slow steps that took no snapshot.
[[gnu::cold]] void TellMissedTriggers() noexcept;

// Forgets the parent's steps in the forked child.
[[gnu::cold]] void ForgetTriggers() noexcept;

}  // namespace gpuprof::inject
