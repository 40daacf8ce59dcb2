// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// From calls of NVTX and of ITT to rows. Every function here runs on the program's threads, in
// their callbacks and so in signal handlers too: no heap, no lock, errno untouched.
//
// Pushed ranges nest within a thread and a domain; the thread's are in a stack of its own, and the
// first of them in its ring too, for the case that the process dies. Started ranges belong to the
// process. Only what begins in a capture is recorded: an end whose begin is not known is counted
// and nothing else. Ranges started and never ended are rows where the process
// ends by itself, and counted where the capture does; a process that is killed or aborts takes them
// along.

#pragma once

#include <cstdint>

#include "inject/ranges/messages.h"
#include "inject/ranges/payloads.h"
#include "proto/contract.h"
#include "proto/record.h"

namespace gpuprof::inject::ranges {

struct Event {
  Text* domain = nullptr;  // null: the default domain
  Message message;
  uint64_t style = 0;  // category | colour << 32
  uint64_t payload = 0;
  uint32_t payload_type = 0;           // proto::NvtxPayload
  const Payloads* payloads = nullptr;  // extended ones
};

// The sources that record ranges. With operations alone, the range of a framework that begins a
// capture is recorded.
inline constexpr uint32_t kSources =
    proto::kSourceNvtx | proto::kSourceItt | proto::kSourceNccl | proto::kSourceOps;

// What pushes and pops return where nobody keeps track of levels, as NVTX does.
inline constexpr int kNoTracking = -2;

// Once a process; any thread. False: no memory.
bool PrepareRanges() noexcept;

// Levels within thread and domain, from 0; kNoTracking where nothing was recorded.
int Push(const Event& event) noexcept;
// `more`: payloads that came with the end.
int Pop(Text* domain, const Payloads* more = nullptr) noexcept;

// `id` is the chained tool's for it, 0 where there is none. Returns the id for the program.
uint64_t Start(const Event& event, uint64_t id) noexcept;
void End(uint64_t id, const Payloads* more = nullptr) noexcept;
// Of ids that the program gives itself: whether one is open in this capture.
bool IsStarted(uint64_t id) noexcept;

// The process is about to end: those that are open become rows that say so. A thread that records.
void EndStarted() noexcept;
// The capture ends: how many are open goes to what was lost. Any thread.
void CountStarted() noexcept;

void Mark(const Event& event) noexcept;

// The row that tells a name. `range` of a kind of names.
void WriteName(proto::RangeKind kind, Text* domain, uint64_t number, Text* name) noexcept;

void CountNameLost() noexcept;
void CountValuesLost(uint64_t count) noexcept;

// Before the first hook records in a new capture: what an earlier one left open is over.
void BeginCapture() noexcept;
// The process writes another file: in a forked child, and after an exec that failed.
void BeginFile() noexcept;

}  // namespace gpuprof::inject::ranges
