// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads small files of /proc without stdio. Tool threads only.

#pragma once

#include <cstdint>
#include <vector>

namespace gpuprof::tracer {

// At most `most` bytes of the file; empty when it cannot be read.
std::vector<char> ReadSmallFile(const char* path, uint32_t most);

// Reads into a buffer, zero-terminated. Returns the length, 0 when it cannot be read.
uint32_t ReadSmallFile(const char* path, char* buffer, uint32_t capacity);

}  // namespace gpuprof::tracer
