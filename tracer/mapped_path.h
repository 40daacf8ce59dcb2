// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The file that is mapped at an address, by the kernel's word. Tool threads only; allocates
// nothing.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

// The absolute path of the file that is mapped at `address` of this process, as long as it fits
// into `capacity` bytes; not terminated. Returns its length, 0: there is none, or it cannot be
// asked for. The same for one that was removed since.
uint32_t MappedPath(uint64_t address, char* path, uint32_t capacity);

// The same of a file that looks like /proc/self/maps. For tests.
uint32_t MappedPathIn(const char* maps, uint64_t address, char* path, uint32_t capacity);

}  // namespace gpuprof::tracer
