// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How much memory this program may take: what the machine has, or what its control group allows.
// Any thread; only reads.

#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::analysis {

// Returns the least memory limit of the control groups that a process is in, and of the groups
// above. `groups` is the text of /proc/PID/cgroup, `root` is /sys/fs/cgroup. UINT64_MAX: no limit.
uint64_t GroupMemoryLimit(const std::string& groups, const std::string& root);

// Returns the least room that these groups still leave below their limits, likewise. Memory of
// files that no process reads at the moment counts as room. UINT64_MAX: no limit.
uint64_t GroupMemoryRoom(const std::string& groups, const std::string& root);

// Returns MemAvailable of the text of /proc/meminfo, in bytes. UINT64_MAX: it is not there.
uint64_t AvailableMemory(const std::string& meminfo);

// Returns the least of both for this program and machine.
uint64_t RoomInMemory();

// Returns three quarters of the memory that this program may take.
uint64_t DefaultMemoryLimit();

}  // namespace gpuprof::analysis
