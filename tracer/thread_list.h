// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The threads of this process by /proc. A tool thread with its own table of descriptors.

#pragma once

#include <cstdint>
#include <vector>

namespace gpuprof::tracer {

// Appends the numbers of all threads.
void ListThreads(std::vector<int32_t>* tids);

// Writes "/proc/self/task/<tid>/<file>" to `path`, which has room for 64 bytes.
void TaskPath(int32_t tid, const char* file, char* path);

// Returns whether a thread's name is that of a thread of gpuprof.
bool IsToolName(const char* name, uint32_t bytes);
bool IsToolThread(int32_t tid);

}  // namespace gpuprof::tracer
