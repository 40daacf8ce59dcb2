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

// Returns three quarters of the memory that this program may take.
uint64_t DefaultMemoryLimit();

}  // namespace gpuprof::analysis
