// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Limits that the program sets for itself (setrlimit). What gpuprof takes does not count: the
// kernel's limit is higher by that much, and the program sees the limit that it has set. Both
// follow each other when gpuprof maps or gives back memory.
//
// Perhaps the kernel's limit cannot be raised, or somebody else has set it. Then gpuprof gives back
// its threads and its memory when a call of the program fails (GiveBack).

#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>

namespace gpuprof::inject {

// Maps zeroed private pages for gpuprof. Null: there is no memory. `flags` are further flags of
// mmap. Any thread; errno untouched.
void* MapPages(size_t bytes, int flags = 0) noexcept;
void UnmapPages(void* pages, size_t bytes) noexcept;

// Notes memory that gpuprof maps by other means: before it is mapped, and with a negative number
// after it was unmapped. `is_shared`: pages of a file, which do not count as data. Any thread.
void NoteMapped(int64_t bytes, bool is_shared) noexcept;

// Notes a thread of gpuprof that is about to begin (1), could not begin or is known by its number
// now (-1).
void NoteThread(int change) noexcept;

// Returns whether gpuprof counts against this limit. For the hooks of setrlimit, getrlimit and
// prlimit.
bool IsManagedResource(int resource) noexcept;
// Sets a limit for the program. `call(limit)` is the real call that sets one.
int SetLimit(int resource, const rlimit* wanted, int (*call)(int, const rlimit*)) noexcept;
// Replaces what the kernel says by what the program has set.
void ShowLimit(int resource, rlimit* limit) noexcept;

// Gives another program the limits that this one has set; before exec. TakeLimitsBack: exec has
// failed.
void HandLimitsOn() noexcept;
void TakeLimitsBack() noexcept;

// Forgets the rings in a forked child, which does not inherit them.
void ForgetRings() noexcept;

// Helps a call of the program that has failed. It wanted `bytes` more of memory, or, with 0, one
// more thread or process. Raises the limits that somebody else has set. If that is not possible,
// ends the capture and gpuprof's threads. Returns whether the call should be made once more. On a
// thread of the program; errno untouched.
bool GiveBack(size_t bytes) noexcept;

}  // namespace gpuprof::inject
