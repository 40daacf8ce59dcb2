// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes the process's ring file and the rings in it. Called from hooks on a thread's first event:
// system calls only, no heap, no lock, errno untouched. Space is reserved before it is mapped, so
// that a full disk is an error here and never a SIGBUS later. Without a file (full disk, chroot, no
// descriptors) rings live in anonymous memory. Only crash safety is lost then.
//
// A file takes no more of the disk than is written to it: a job may start many thousand processes
// that live for milliseconds. Its pages are made real one by one, and a ring grows (proto/ring.h).

#pragma once

#include "proto/ring.h"

namespace gpuprof::inject {

// Makes the ring file's header if it is not there yet. False: another thread is making it right
// now; try at the next event.
bool EnsureRingFile() noexcept;

// Returns a ring for the calling thread: the ring of a thread that has ended, or a new ring. Null:
// the memory budget is used up.
proto::RingHeader* OpenRing(int tid) noexcept;

// Gives a ring four times the room on the disk, at most RingHeader::most records. False: it stays
// as it is, because the disk takes no more. In hooks, on the thread that owns the ring.
bool GrowRing(proto::RingHeader* ring) noexcept;

// Closes a ring: its owner will not write again. The drain empties the ring and frees it.
void CloseRing(proto::RingHeader* ring) noexcept;

// Gives back the memory of all rings. No other thread may be in a hook: the process has no thread
// but the calling one, and its trace is finished.
void UnmapRings() noexcept;

// Counts one event that was not recorded because its thread had ended or its ring was being made.
void CountThreadEdge() noexcept;

// Counts the records of rings outside the file as lost, for a process that ends and was never
// drained. Their stacks are counted too, so the count may be too high.
void CountLostWithoutFile() noexcept;

// Puts the text into the header, as the reason why recording ended early or rows were lost.
void NoteTrouble(const char* text) noexcept;

// Adds processor time of the calling thread that went into the begin or the end of gpuprof (ns).
void NoteOwnTime(uint64_t ns) noexcept;

// Reads all clocks into the header's `latest_*` fields (exit, each second).
void UpdateLatestSnapshot() noexcept;

// Returns the error number of a ring file that could not be made; its records are in memory only.
// 0: no error.
int RingFileError() noexcept;

// Removes the file; the mappings stay.
void RemoveRingFile() noexcept;

}  // namespace gpuprof::inject
