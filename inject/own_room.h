// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Limits that the program sets for itself (setrlimit): addresses, data, processes of its user. What
// gpuprof takes does not count: the kernel's limit is higher by that much, and the program is told
// the limit that it has set. Both follow each other when gpuprof maps or gives back memory.
//
// Where the kernel's limit cannot be raised, or somebody else has set it, gpuprof gives back what
// it holds when a call of the program fails (GiveBack).

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

// The hooks of setrlimit, getrlimit and prlimit. `call(limit)` is the real call that sets a limit.
bool IsManagedResource(int resource) noexcept;
int SetLimit(int resource, const rlimit* wanted, int (*call)(int, const rlimit*)) noexcept;
// Replaces what the kernel says by what the program has set.
void ShowLimit(int resource, rlimit* limit) noexcept;

// Gives another program the limits that this one has set; before exec. TakeLimitsBack: exec has
// failed.
void HandLimitsOn() noexcept;
void TakeLimitsBack() noexcept;

// In a forked child: rings are not inherited.
void ForgetRings() noexcept;

// Raises the limits that somebody else has set, or ends the capture and gpuprof's threads, if that
// helps a call of the program that has failed:
// `bytes` more memory are wanted, or 0: one more thread or process. Returns whether the call should
// be made once more. On a thread of the program; errno untouched.
bool GiveBack(size_t bytes) noexcept;

}  // namespace gpuprof::inject
