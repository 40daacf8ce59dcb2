// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes the process's ring file and the rings in it. Called from hooks on a thread's first event:
// system calls only, no heap, no lock, errno untouched. Space is reserved before it is mapped, so
// that a full disk is an error here and never a SIGBUS later; where no file can be had (full disk,
// chroot, no descriptors) rings live in anonymous memory and only crash safety is lost.

#pragma once

#include "proto/ring.h"

namespace gpuprof::inject {

// Makes the ring file's header if there is none yet. False: another thread is at it right now, try
// at the next event.
bool EnsureRingFile() noexcept;

// A ring for the calling thread: a returned one of a thread that has gone, or a new one. Null:
// memory budget used up.
proto::RingHeader* OpenRing(int tid) noexcept;

// The owner will not write again; the drain empties the ring and frees it.
void CloseRing(proto::RingHeader* ring) noexcept;

// Counts one event that was not recorded because its thread had ended or its ring was being made.
void CountThreadEdge() noexcept;

// For a process that ends and was never drained: the records of rings outside the file are counted
// as lost (their stacks too, so that it may be too many).
void CountLostWithoutFile() noexcept;

// What the process said last goes into the header as the reason why recording ended early.
void NoteTrouble() noexcept;

// Reads all clocks into the header's `latest_*` fields (exit, each second).
void UpdateLatestSnapshot() noexcept;

// The error number for which records are kept in memory only, without a file; 0: none.
int RingFileError() noexcept;

// Removes the file; the mappings stay.
void RemoveRingFile() noexcept;

}  // namespace gpuprof::inject
